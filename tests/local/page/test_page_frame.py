"""Around the conversation on the chat page: language, person, spaces, screen, faults, connection."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import needs_chromium, opened
from tests.support.chat_page import (
    MODEL_NOTE,
    SPACE,
    Bot,
    ask,
    card,
    chat_serving,
    in_space,
    messages,
    space,
    step,
)
from tests.support.loopback import http

pytest_plugins = ["tests.support.page_fixtures"]
pytestmark = [pytest.mark.slow, pytest.mark.browser, needs_chromium]


def test_the_page_says_which_model_answers(page: Page) -> None:
    expect(page.get_by_test_id("model-note")).to_contain_text(MODEL_NOTE)


def test_the_language_switch_changes_the_words_and_what_the_bot_is_told(page: Page, bot: Bot) -> None:
    page.get_by_test_id("language").select_option("ja")
    expect(page.get_by_test_id("composer")).to_have_attribute("placeholder", "質問を入力")
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    ask(page, "VPNの設定方法を教えて")
    assert bot.heard(1)[0]["common"]["userLocale"] == "ja"

    page.reload()

    expect(page.get_by_test_id("thread-reply")).to_have_text("返信")


def test_a_japanese_browser_gets_a_japanese_page(browser: Browser, url: str) -> None:
    with opened(browser, url, locale="ja-JP") as page:
        expect(page.get_by_test_id("language")).to_have_value("ja")
        expect(page.locator(".suggestions button").first).to_have_text("VPNの設定方法を教えて")


def test_each_person_has_a_direct_message_of_their_own(page: Page, bot: Bot) -> None:
    space(page, "spaces/dmAikoAAAAE").click()
    ask(page, "from Aiko")

    page.get_by_label("You are").select_option(label="Ben Miller")

    expect(space(page, "spaces/dmAikoAAAAE")).to_have_count(0)
    expect(space(page, "spaces/dmBenAAAAAE")).to_have_attribute("aria-current", "page")
    expect(messages(page, "HUMAN")).to_have_count(0)
    ask(page, "from Ben")
    assert [event["user"]["displayName"] for event in bot.heard(2)] == ["Aiko Tanaka", "Ben Miller"]


def test_a_message_elsewhere_marks_its_space(page: Page, bot: Bot) -> None:
    thread = ask(page, "VPN?")
    space(page, "spaces/dmAikoAAAAE").click()

    bot.answer(thread, {"text": "An answer"})

    mark = space(page, SPACE).get_by_role("img", name="new messages")
    expect(mark).to_be_visible()
    space(page, SPACE).click()
    expect(mark).to_have_count(0)


def test_on_a_narrow_screen_the_list_is_a_drawer(browser: Browser, url: str) -> None:
    with opened(browser, url, viewport={"width": 390, "height": 844}) as page:
        menu = page.get_by_role("button", name="Conversations")
        entry = space(page, SPACE)
        expect(page.locator(".suggestions")).to_be_visible()
        expect(entry).to_be_hidden()

        menu.click()
        expect(entry).to_be_in_viewport()
        page.keyboard.press("Escape")
        expect(entry).to_be_hidden()
        expect(menu).to_be_focused()

        menu.click()
        entry.click()
        expect(entry).to_be_hidden()
        expect(page.get_by_role("heading", level=1)).to_have_text("IT support")
        assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_word_without_end_does_not_widen_the_page(browser: Browser, url: str, bot: Bot) -> None:
    with opened(browser, url, viewport={"width": 390, "height": 844}) as page:
        page.get_by_role("button", name="Conversations").click()
        space(page, SPACE).click()
        bot.answer(ask(page, "x" * 400), card(step("search", "x" * 400)))
        expect(page.get_by_test_id("card")).to_be_visible()

        stream = page.get_by_role("log")
        assert stream.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_dark_mode_follows_the_system_until_it_is_chosen(browser: Browser, url: str) -> None:
    background = "getComputedStyle(document.querySelector('main')).backgroundColor"
    with opened(browser, url, color_scheme="dark") as page:
        dark = page.evaluate(background)
        page.get_by_role("button", name="Dark mode").click()
        light = page.evaluate(background)
        page.reload()
        expect(page.get_by_role("button", name="Dark mode")).to_have_attribute("aria-pressed", "false")

        assert page.evaluate(background) == light == "rgb(255, 255, 255)"
        assert dark != light


def test_faults_are_switched_by_name(page: Page, url: str) -> None:
    page.get_by_text("Faults").click()
    group = page.get_by_role("group", name="gemini")
    group.get_by_role("switch", name="down").check()

    expect(page.locator("#faults-on")).to_have_text("1")
    assert http.get(f"{url}/page/faults").json()["active"] == ["gemini-down"]

    page.get_by_role("button", name="Turn all off").click()
    expect(group.get_by_role("switch", name="down")).not_to_be_checked()
    assert http.get(f"{url}/page/faults").json()["active"] == []


def test_a_lost_connection_is_shown_and_mended(browser: Browser, bot: Bot, tmp_path: Path) -> None:
    with chat_serving(bot, tmp_path / "chat.sqlite") as url:
        port = urlsplit(url).port or 0
        page_opened = opened(browser, url)
        page = page_opened.__enter__()
        in_space(page)
        thread = ask(page, "VPN?")
    expect(page.get_by_text("Connection lost")).to_be_visible()

    with chat_serving(bot, tmp_path / "chat.sqlite", port):
        bot.answer(thread, {"text": "While you were away"})

        expect(page.get_by_text("Connection lost")).to_be_hidden()
        expect(messages(page, "BOT")).to_contain_text("While you were away")
        bot.answer(thread, {"text": "Live again"})
        expect(messages(page, "BOT").last).to_contain_text("Live again")
        page_opened.__exit__(None, None, None)
