"""Writing and reading on the chat page: messages, threads, the keyboard, Japanese input."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browser import needs_chromium
from tests.support.chat_page import SPACE, Bot, Json, ask, messages, space

pytest_plugins = ["tests.support.page_fixtures"]
pytestmark = [pytest.mark.slow, pytest.mark.browser, needs_chromium]
ENTER_OF_AN_INPUT_METHOD = {
    "while composing": {"isComposing": True},
    "as Safari tells it": {"keyCode": 229},
}


def test_a_sent_message_is_shown_and_reaches_the_bot(page: Page, bot: Bot) -> None:
    ask(page, "How do I configure the VPN?")

    expect(messages(page, "HUMAN")).to_contain_text("@threadwise How do I configure the VPN?")
    expect(page.get_by_test_id("composer")).to_have_value("")
    assert bot.heard(1)[0]["message"]["argumentText"].strip() == "How do I configure the VPN?"


def test_a_suggested_question_is_asked_with_one_click(page: Page, bot: Bot) -> None:
    page.locator(".suggestions button").first.click()

    expect(messages(page, "HUMAN")).to_contain_text("How do I configure the VPN?")
    expect(page.locator(".welcome")).to_have_count(0)


def test_a_reply_goes_to_its_thread(page: Page, bot: Bot) -> None:
    thread = ask(page, "How do I configure the VPN?")
    ask(page, "How do I print?")

    page.get_by_test_id("thread-reply").first.click()
    page.get_by_test_id("thread-composer").fill("Can you explain in more detail?")
    page.get_by_test_id("thread-send").click()

    topic = page.locator(f'.topic[data-thread="{thread}"]')
    expect(topic.locator(".replies")).to_contain_text("Can you explain in more detail?")
    expect(page.get_by_test_id("thread-composer")).to_have_value("")
    expect(page.locator(".topic")).to_have_count(2)
    assert [event["thread"]["name"] for event in bot.heard(3)].count(thread) == 2


def test_what_is_written_in_a_thread_outlives_an_update_of_the_thread(page: Page, bot: Bot) -> None:
    thread = ask(page, "VPN?")
    page.get_by_test_id("thread-reply").click()
    field = page.get_by_test_id("thread-composer")
    field.press_sequentially("on a M")

    bot.answer(thread, {"text": "An answer"})
    expect(messages(page, "BOT")).to_be_visible()

    expect(field).to_be_focused()
    field.press_sequentially("ac")
    expect(field).to_have_value("on a Mac")


def test_a_long_thread_shows_its_last_replies_until_it_is_opened(page: Page, bot: Bot) -> None:
    thread = ask(page, "VPN?")
    for number in range(1, 10):
        bot.answer(thread, {"text": f"reply {number}"})
    expect(messages(page, "BOT").last).to_contain_text("reply 9")
    expect(messages(page, "BOT")).to_have_count(4)

    page.get_by_role("button", name="Show 5 earlier replies").click()

    expect(messages(page, "BOT")).to_have_count(9)


@pytest.mark.parametrize("key", ENTER_OF_AN_INPUT_METHOD.values(), ids=ENTER_OF_AN_INPUT_METHOD)
def test_enter_that_ends_a_conversion_does_not_send(page: Page, bot: Bot, key: Json) -> None:
    field = page.get_by_test_id("composer")
    field.fill("設定方法")

    field.dispatch_event("keydown", {"key": "Enter", "bubbles": True, "cancelable": True, **key})

    expect(field).to_have_value("設定方法")
    field.press_sequentially("を教えて")
    field.press("Enter")
    expect(messages(page, "HUMAN")).to_have_count(1)
    expect(messages(page, "HUMAN")).to_contain_text("設定方法を教えて")


def test_shift_enter_breaks_the_line(page: Page) -> None:
    field = page.get_by_test_id("composer")
    field.press_sequentially("one")
    field.press("Shift+Enter")
    field.press_sequentially("two")

    expect(field).to_have_value("one\ntwo")
    field.press("Enter")
    expect(messages(page, "HUMAN").locator(".rich br")).to_have_count(1)


def test_a_message_without_the_mention_is_not_for_the_bot(page: Page, bot: Bot) -> None:
    page.get_by_role("button", name="Do not mention threadwise").click()
    ask(page, "among ourselves")
    ask(page, "for the bot")

    expect(messages(page, "HUMAN").first).not_to_contain_text("@threadwise")
    expect(messages(page, "HUMAN").last).to_contain_text("@threadwise for the bot")
    assert [event["message"]["argumentText"].strip() for event in bot.heard(1)] == ["for the bot"]


def test_a_failed_send_keeps_the_text(page: Page) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=503, json={"error": {"message": "Chat is down"}})

    field = page.get_by_test_id("composer")
    page.route("**/page/messages", refuse)
    field.fill("do not lose me")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Chat is down")
    expect(field).to_have_value("do not lose me")
    expect(messages(page, "HUMAN")).to_have_count(0)

    page.unroute("**/page/messages")
    field.press("Enter")

    expect(messages(page, "HUMAN")).to_contain_text("do not lose me")
    expect(field).to_have_value("")


def test_a_question_the_bot_did_not_take_says_so(page: Page, bot: Bot) -> None:
    bot.status = 500
    ask(page, "VPN?")

    expect(messages(page, "HUMAN")).to_contain_text("threadwise is not responding")


def test_deleting_the_first_message_leaves_the_replies(page: Page, bot: Bot) -> None:
    bot.answer(ask(page, "VPN?"), {"text": "An answer"})
    expect(messages(page, "BOT")).to_be_visible()

    messages(page, "HUMAN").hover()
    messages(page, "HUMAN").get_by_role("button", name="Delete message").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(messages(page, "HUMAN")).to_have_count(0)
    expect(messages(page, "BOT")).to_contain_text("An answer")
    expect(page.get_by_text("This message was deleted")).to_be_visible()


def test_a_question_and_its_follow_up_need_no_mouse(page: Page, bot: Bot) -> None:
    space(page, "spaces/dmAikoAAAAE").focus()
    page.keyboard.press("ArrowDown")
    expect(space(page, SPACE)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("composer")).to_be_focused()
    page.keyboard.type("VPN?")
    page.keyboard.press("Enter")
    expect(messages(page, "HUMAN")).to_have_count(1)

    reply = page.get_by_test_id("thread-reply")
    tab_back_to(page, reply)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("thread-composer")).to_be_focused()
    page.keyboard.type("in more detail")
    page.keyboard.press("Enter")
    expect(messages(page, "HUMAN")).to_have_count(2)

    page.keyboard.press("Escape")
    expect(reply).to_be_focused()


def tab_back_to(page: Page, wanted: Locator) -> None:
    for _ in range(10):
        page.keyboard.press("Shift+Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    pytest.fail("Not reached with Shift+Tab")
