"""The operator view of the chat page, in Chromium, with the real pipeline behind it."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from shared.messages.dead_letter import reference
from tests.support.browser import chromium, needs_chromium, opened
from tests.support.chat_page import SPACE, in_space, space
from tests.support.operating import Desk
from tests.support.stack import Stack

pytest_plugins = ["tests.support.stack_fixtures"]
pytestmark = [pytest.mark.slow, pytest.mark.browser, needs_chromium]
#: A question goes all the way, and is looked at every two seconds.
PATIENCE_MS = 60_000
VPN = "How do I configure the VPN?"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(autouse=True)
def cleared(stack: Stack) -> Iterator[None]:
    """Before each test no dead letter is left of others', and after it none of its own."""
    Desk(stack.firestore).clear()
    yield
    stack.faults.switch_off()
    stack.settle()
    Desk(stack.firestore).clear()


@pytest.fixture
def page(browser: Browser, stack: Stack) -> Iterator[Page]:
    with opened(browser, f"{stack.places.url}/#operator") as shown:
        shown.set_default_timeout(PATIENCE_MS)
        yield shown


def groups(page: Page) -> Locator:
    return page.get_by_test_id("group")


def wait_for(page: Page, count: int) -> None:
    """Until one group of so many dead letters is shown."""
    expect(groups(page)).to_have_count(1, timeout=PATIENCE_MS)
    expect(groups(page).locator(".op-count")).to_have_text(str(count), timeout=PATIENCE_MS)


def outcome(page: Page, question: dict[str, Any]) -> Locator:
    """The line of a question's message in the replay that is shown."""
    return page.get_by_test_id("outcome").filter(has_text=reference(question["name"]))


def test_from_a_fault_to_the_answer(page: Page, stack: Stack) -> None:
    page.get_by_text("Faults", exact=True).click()
    broken = page.get_by_role("group", name="gemini").get_by_role("switch", name="invalid")
    broken.check()
    in_space(page)
    page.get_by_test_id("composer").fill(VPN)
    page.get_by_test_id("send").click()
    other = stack.ask("How do I print?")

    page.get_by_role("link", name="Operator").click()
    wait_for(page, 2)
    expect(groups(page)).to_contain_text("gemini_invalid")
    expect(groups(page)).to_contain_text("answer")
    groups(page).get_by_role("link").click()
    cases = page.get_by_test_id("case")
    expect(cases).to_have_count(2)
    cases.filter(has_not_text=reference(other["name"])).get_by_role("link").click()
    full = page.get_by_test_id("full-case")
    expect(full).to_contain_text("has been informed")
    expect(full).to_contain_text("Failed in answer")
    expect(full).not_to_contain_text(VPN)
    page.get_by_role("button", name="Show the text").click()
    expect(page.get_by_test_id("envelope")).to_contain_text(VPN)

    broken.uncheck()
    page.get_by_role("link", name="All dead letters").click()
    page.get_by_test_id("replay-group").click()
    page.get_by_test_id("dry-run").click()
    expect(page.get_by_test_id("preview")).to_contain_text("2 replayed")
    expect(groups(page).locator(".op-count")).to_have_text("2")
    page.get_by_test_id("replay-now").click()

    replay = page.get_by_test_id("replay")
    expect(replay).to_contain_text("Replay ended", timeout=PATIENCE_MS)
    expect(replay).to_contain_text("2 answered")
    expect(page.get_by_text("Break something in the Faults panel to see one.")).to_be_visible()
    space(page, SPACE).click()
    answer = page.locator(".topic", has_text=VPN).last.locator("[data-sender=BOT]")
    expect(answer).to_contain_text("[1]")


def test_a_message_that_comes_back_is_told_and_the_selection_decides_what_is_sent(
    page: Page, stack: Stack
) -> None:
    stack.faults.switch_on("gemini-invalid")
    chosen, left = stack.ask(VPN), stack.ask("How do I print?")
    wait_for(page, 2)
    groups(page).get_by_role("link").click()

    page.get_by_label(f"Select {reference(chosen['name'])}").check()
    page.get_by_test_id("replay-picked").click()
    page.get_by_test_id("replay-now").click()

    expect(outcome(page, chosen)).to_contain_text("replayed, came back", timeout=PATIENCE_MS)
    expect(outcome(page, left)).to_have_count(0)
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_test_id("replay")).to_have_count(0)
    again = page.get_by_test_id("case").filter(has_text=reference(chosen["name"]))
    expect(again).to_contain_text("1 came back")
    expect(page.get_by_test_id("case").filter(has_text=reference(left["name"]))).to_contain_text("Replays: 0")


def test_a_canary_at_a_rate_can_be_stopped(page: Page, stack: Stack) -> None:
    stack.faults.switch_on("gemini-invalid")
    for _ in range(4):
        stack.ask(VPN)
    wait_for(page, 4)
    stack.faults.switch_off()

    page.get_by_test_id("replay-all").click()
    page.get_by_label("Only the oldest").fill("3")
    page.get_by_label("Messages per second").fill("0.5")
    page.get_by_test_id("replay-now").click()
    expect(page.get_by_test_id("outcome")).to_have_count(3)
    expect(page.get_by_test_id("outcome").last).to_contain_text("waiting")
    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_test_id("replay")).to_contain_text("Replay stopped")
    expect(page.get_by_test_id("outcome").last).to_contain_text("waiting")
    expect(page.get_by_test_id("replay-all")).to_be_enabled()


def test_a_deep_link_speaks_japanese_and_back_goes_back(browser: Browser, stack: Stack) -> None:
    with opened(browser, f"{stack.places.url}/#operator", locale="ja-JP") as page:
        expect(page.get_by_text("デッドレターはありません")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.get_by_role("heading", level=1)).to_have_text("デッドレター")
        expect(page.get_by_role("link", name="オペレーター")).to_have_attribute("aria-current", "page")

        space(page, SPACE).click()
        expect(page.get_by_test_id("composer")).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text("IT support")
        page.go_back()

        expect(page.get_by_text("デッドレターはありません")).to_be_visible()
        expect(page.get_by_test_id("composer")).to_be_hidden()


def test_the_view_fits_a_narrow_screen_and_keeps_to_the_security_policy(
    browser: Browser, stack: Stack
) -> None:
    stack.faults.switch_on("gemini-invalid")
    stack.ask(f"{VPN} {'x' * 400}")
    complaints: list[str] = []
    with opened(browser, stack.places.url, viewport={"width": 390, "height": 844}) as page:
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: complaints.append(message.text))
        page.get_by_role("button", name="Conversations").click()
        page.get_by_role("link", name="Operator").click()
        expect(page.get_by_role("link", name="Operator")).to_be_hidden()
        wait_for(page, 1)
        groups(page).get_by_role("link").click()
        page.get_by_test_id("case").get_by_role("link").click()
        page.get_by_role("button", name="Show the text").click()
        expect(page.get_by_test_id("envelope")).to_contain_text("x" * 400)

        assert page.locator("#operator").evaluate("e => e.scrollWidth <= e.clientWidth")
        assert complaints == []


def test_a_service_that_is_down_is_told_until_it_answers_again(page: Page, stack: Stack) -> None:
    expect(page.get_by_text("No dead letters")).to_be_visible(timeout=PATIENCE_MS)
    stack.faults.switch_on("firestore-down")

    expect(page.get_by_role("alert").filter(has_text="does not answer")).to_be_visible()
    stack.faults.switch_off()

    expect(page.get_by_role("alert").filter(has_text="does not answer")).to_have_count(0)
