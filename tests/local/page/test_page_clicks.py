"""Clicks on the chat page: buttons of every kind, what cards ask for, menus, dialogs, and what goes wrong."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.browser import needs_chromium
from tests.support.chat_page import Bot, Json, ask, card, messages
from tests.support.loopback import http

pytest_plugins = ["tests.support.page_fixtures"]
pytestmark = [pytest.mark.slow, pytest.mark.browser, needs_chromium]


def does(function: str, **parameters: str) -> Json:
    listed = [{"key": key, "value": value} for key, value in parameters.items()]
    return {"onClick": {"action": {"function": function, "parameters": listed}}}


def thumb(name: str, rating: str) -> Json:
    drawing = {"materialIcon": {"name": name}, "altText": rating}
    return {"icon": drawing, **does("feedback", action="feedback", rating=rating)}


def buttons(*each: Json) -> Json:
    return {"buttonList": {"buttons": list(each)}}


def clicked(bot: Bot, count: int) -> tuple[str, Json, Json]:
    """Function, parameters and inputs of the latest click, which is so many events on."""
    common = bot.heard(count)[-1]["common"]
    inputs = {name: each["stringInputs"]["value"] for name, each in common["formInputs"].items()}
    return common["invokedFunction"], common["parameters"], inputs


def answered(page: Page, bot: Bot, message: Json) -> Locator:
    """A question, and the bot's message to it."""
    bot.answer(ask(page, "VPN?"), {"text": "Like this.", **message})
    expect(messages(page, "BOT")).to_be_visible()
    return messages(page, "BOT")


def test_a_button_under_a_message_or_in_its_menu_tells_the_bot_what_it_is_for(page: Page, bot: Bot) -> None:
    menu = {"onClick": {"overflowMenu": {"items": [{"text": "Forget this", **does("forget", n="1")}]}}}
    said = answered(
        page,
        bot,
        {"accessoryWidgets": [buttons(thumb("thumb_up", "Helpful"), thumb("thumb_down", "Not"), menu)]},
    )

    said.get_by_role("button", name="Helpful").press("Enter")
    assert clicked(bot, 2) == ("feedback", {"action": "feedback", "rating": "Helpful"}, {})

    opener, entry = said.get_by_label("More"), said.get_by_role("button", name="Forget this")
    opener.click()
    page.keyboard.press("Escape")
    expect(entry).to_be_hidden()
    expect(opener).to_be_focused()
    opener.click()
    entry.click()
    assert clicked(bot, 3) == ("forget", {"n": "1"}, {})
    expect(entry).to_be_hidden()


def test_a_click_under_way_is_shown_and_sent_once_and_its_failure_is_told(
    page: Page, bot: Bot, url: str
) -> None:
    said = answered(page, bot, card(buttons({"text": "Try again", **does("again")})))
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/page/clicks", hold)
    button = said.get_by_role("button", name="Try again")

    button.click()
    expect(button).to_have_attribute("aria-busy", "true")
    expect(button).to_be_focused()
    button.click(force=True)
    bot.status = 500
    held[0].continue_()

    expect(page.get_by_role("alert")).to_contain_text("threadwise could not do that")
    expect(button).not_to_have_attribute("aria-busy", "true")
    assert len(held) == 1

    page.unroute("**/page/clicks")
    http.post(f"{url}/page/connection", json={"shape": "add-on", "transport": "pubsub"})
    expect(page.locator("#setup-now")).to_have_text("Add-on · Pub/Sub")
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("Clicks do not reach")


def test_what_is_put_into_a_card_goes_with_its_button(page: Page, bot: Bot) -> None:
    kinds = [{"text": text, "value": text.lower()} for text in ("Wrong", "Old")]
    asks: list[Json] = [
        {"textInput": {"name": "why", "label": "Why?"}},
        {"selectionInput": {"name": "kind", "label": "Kind", "type": "RADIO_BUTTON", "items": kinds}},
        {"selectionInput": {"name": "which", "label": "Which", "type": "DROPDOWN", "items": kinds}},
        {"selectionInput": {"name": "tell", "type": "SWITCH", "items": [{"text": "Tell us", "value": "y"}]}},
        buttons({"text": "Send", **does("send")}),
    ]
    said = answered(page, bot, card(*asks))

    said.get_by_label("Why?").fill("the menu moved")
    said.get_by_label("Why?").press("Enter")
    said.get_by_role("radio", name="Old").check()
    said.get_by_label("Which").select_option("Old")
    said.get_by_role("switch", name="Tell us").check()
    said.get_by_role("button", name="Send").click()

    put = {"why": ["the menu moved"], "kind": ["old"], "which": ["old"], "tell": ["y"]}
    assert clicked(bot, 2) == ("send", {}, put)


def test_a_dialog_opens_says_what_is_wrong_and_closes(page: Page, bot: Bot) -> None:
    said = answered(page, bot, card(buttons({"text": "Why?", **does("ask")})))
    form = card({"textInput": {"name": "why", "label": "What was wrong?"}})["cardsV2"][0]["card"]
    form["fixedFooter"] = {"primaryButton": {"text": "Send", **does("send")}}
    bot.reply = {"actionResponse": {"type": "DIALOG", "dialogAction": {"dialog": {"body": form}}}}

    said.get_by_role("button", name="Why?").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("What was wrong?")).to_be_focused()
    page.keyboard.type("too old")
    bot.status = 500
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_role("alert")).to_contain_text("could not do that")

    status = {"statusCode": "OK", "userFacingMessage": "Thank you"}
    bot.status, bot.reply = (
        200,
        {"actionResponse": {"type": "DIALOG", "dialogAction": {"actionStatus": status}}},
    )
    dialog.get_by_role("button", name="Send").click()

    expect(dialog).to_be_hidden()
    expect(page.get_by_role("alert")).to_contain_text("Thank you")
    assert clicked(bot, 4) == ("send", {}, {"why": ["too old"]})
