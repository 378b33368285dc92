"""What a person sees: the real pipeline behind the page, in Chromium."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ingest_fn.commands import help_text
from shared.language.catalogue import text
from tests.support.browser import chromium, needs_chromium, opened
from tests.support.chat_page import in_space
from tests.support.stack import Stack
from tests.support.waiting import until

pytest_plugins = ["tests.support.stack_fixtures"]
pytestmark = [pytest.mark.slow, pytest.mark.browser, needs_chromium]
PATIENCE_MS = 30_000
#: As the page names them, with what is asked over each.
CONNECTIONS = {
    ("Add-on", "Pub/Sub"): "How do I reset my password?",
    ("Add-on", "HTTPS"): "What is MFA?",
    ("Classic", "Pub/Sub"): "How do I print?",
    ("Classic", "HTTPS"): "How do I configure the VPN?",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: Browser, stack: Stack) -> Iterator[Page]:
    with opened(browser, stack.places.url) as shown:
        shown.set_default_timeout(PATIENCE_MS)
        in_space(shown)
        yield shown


def ask(page: Page, words: str) -> Locator:
    """Ask at the top level; returns the topic that it opens, not one of the same words."""
    before = page.locator(".topic").count()
    page.get_by_test_id("composer").fill(words)
    page.get_by_test_id("send").click()
    topic = page.locator(".topic").nth(before)
    expect(topic).to_contain_text(words)
    return topic


def follow_up(page: Page, topic: Locator, words: str) -> None:
    """Reply in the thread of a topic."""
    topic.get_by_test_id("thread-reply").click()
    page.get_by_test_id("thread-composer").fill(words)
    page.get_by_test_id("thread-send").click()


def said(topic: Locator) -> Locator:
    """What the bot has said in a topic."""
    return topic.locator('[data-testid="message"][data-sender="BOT"]')


def test_a_question_shows_its_progress_then_its_answer_with_sources(page: Page, stack: Stack) -> None:
    stack.faults.switch_on("rag-slow", seconds=2)  # long enough to see the progress
    topic = ask(page, "How do I configure the VPN?")

    searching = text("en", "progress", "searching_for", query="How do I configure the VPN?")
    expect(said(topic)).to_contain_text(searching, timeout=PATIENCE_MS)
    expect(said(topic)).to_contain_text("[1]", timeout=PATIENCE_MS)
    expect(said(topic)).not_to_contain_text(searching)
    expect(said(topic)).to_have_count(1)
    expect(said(topic).get_by_test_id("card")).to_contain_text("How to configure the VPN")


def test_a_follow_up_in_the_thread_shows_what_was_searched_for(page: Page) -> None:
    topic = ask(page, "How do I configure the VPN?")
    expect(said(topic)).to_contain_text("[1]", timeout=PATIENCE_MS)

    follow_up(page, topic, "Can you explain in more detail?")

    answer = said(topic).nth(1)
    expect(answer).to_contain_text("I searched for: Can you explain in more detail?", timeout=PATIENCE_MS)
    expect(answer.get_by_test_id("card")).to_contain_text("VPN")
    expect(answer).to_contain_text("[1]")


def test_a_japanese_conversation_is_japanese_throughout(page: Page) -> None:
    page.get_by_test_id("language").select_option("ja")
    topic = ask(page, "VPNの設定方法を教えて")
    expect(said(topic)).to_contain_text(text("ja", "answer", "hint", hours="24"), timeout=PATIENCE_MS)

    follow_up(page, topic, "もっと詳しく")

    answer = said(topic).nth(1)
    expect(answer).to_contain_text("検索した内容：もっと詳しく", timeout=PATIENCE_MS)
    expect(answer.get_by_test_id("card")).to_contain_text("VPN")


def test_the_source_of_an_answer_can_be_opened(page: Page) -> None:
    topic = ask(page, "How do I configure the VPN?")
    card = said(topic).get_by_test_id("card")
    expect(card).to_contain_text("How to configure the VPN", timeout=PATIENCE_MS)

    with page.expect_popup() as opening:
        card.get_by_text(text("en", "answer", "open")).first.click()

    expect(opening.value.locator("body")).to_contain_text("# How to configure the VPN")


def test_the_page_says_honestly_which_model_answers(page: Page) -> None:
    expect(page.get_by_test_id("model-note")).to_contain_text("rule-based model on this machine")


def _wait_for_connection(stack: Stack, shape: str, transport: str) -> None:
    """The page shows a choice before the server has it."""

    def has_it() -> bool:
        chosen = stack.cloud.chat.connection
        return (chosen.shape, chosen.transport) == (shape.lower(), transport.lower().replace("/", ""))

    until(has_it, f"the choice of {shape} over {transport}", seconds=30)


def test_a_question_is_answered_over_each_connection_that_is_chosen(page: Page, stack: Stack) -> None:
    page.locator("#setup summary").click()
    for (shape, transport), question in CONNECTIONS.items():
        page.get_by_role("radio", name=shape).check()
        page.get_by_role("radio", name=transport).check()
        expect(page.locator("#setup-now")).to_have_text(f"{shape} · {transport}")
        _wait_for_connection(stack, shape, transport)

        expect(said(ask(page, question))).to_contain_text("[1]", timeout=PATIENCE_MS)


def test_the_bot_is_removed_and_is_added_by_a_question(page: Page) -> None:
    page.locator("#setup summary").click()
    page.get_by_role("button", name="Remove threadwise").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("threadwise is not in this conversation.")).to_be_visible()
    topic = ask(page, "Among ourselves")
    expect(topic).not_to_contain_text("@threadwise")

    page.get_by_role("button", name="Mention @threadwise").click()
    topic = ask(page, "How do I configure the VPN?")

    expect(said(topic)).to_contain_text("[1]", timeout=PATIENCE_MS)
    expect(page.get_by_text("threadwise is not in this conversation.")).to_be_hidden()


def test_a_conversation_of_two_people_with_a_file_is_forgotten_by_command_and_click(page: Page) -> None:
    page.locator("#dock input[type=file]").set_input_files(
        {"name": "log.txt", "mimeType": "text/plain", "buffer": b"..."}
    )
    topic = ask(page, "How do I configure the VPN?")
    expect(topic).to_contain_text("log.txt")
    expect(topic).to_contain_text(text("en", "notice", "files_too"), timeout=PATIENCE_MS)

    page.get_by_label("You are").select_option(label="Ben Miller")
    follow_up(page, topic, "Can you explain in more detail?")
    expect(topic.locator("[data-sender=HUMAN]").last).to_contain_text("Ben Miller")
    expect(topic).to_contain_text("I searched for: Can you explain", timeout=PATIENCE_MS)

    field = page.get_by_test_id("thread-composer")
    field.press_sequentially("/f")
    field.press("Enter")
    expect(field).to_have_value("/forget ")
    field.press("Enter")
    button = topic.get_by_role("button", name=text("en", "forget", "button"), exact=True)
    button.click(timeout=PATIENCE_MS)

    expect(said(topic).last).to_contain_text(text("en", "notice", "forgotten"), timeout=PATIENCE_MS)
    expect(button).to_have_count(0)


def test_a_quick_command_is_given_from_the_list(page: Page) -> None:
    help_given = page.get_by_role("log").get_by_text(help_text("en", 24)[:40])
    before = help_given.count()
    page.get_by_role("button", name="Commands").click()
    page.get_by_role("option", name=re.compile("^Help")).click()

    expect(help_given).to_have_count(before + 1, timeout=PATIENCE_MS)
