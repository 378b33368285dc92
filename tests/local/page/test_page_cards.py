"""What the bot sends, on the chat page: cards, their updates, formatted text, and text that means harm."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import needs_chromium
from tests.support.chat_page import Bot, Json, ask, card, messages, step

pytest_plugins = ["tests.support.page_fixtures"]
pytestmark = [pytest.mark.slow, pytest.mark.browser, needs_chromium]
MARKDOWN = """**Bold** and *italic*, a_b_c ~gone~ `x*y*`
- one
  - [deep](https://kb.example.com/a)
1. first
```
a  b
```"""
ATTACK = """<img src="x" onerror="window.hacked=1"><script>window.hacked=1</script>
<a href="javascript:window.hacked=1" onclick="window.hacked=1">press</a>
<b onmouseover="window.hacked=1" style="position:fixed">bold</b><svg><script>window.hacked=1</script></svg>"""
#: The names of all event handlers that are set as attributes.
HANDLERS = """stream => [...stream.querySelectorAll("*")]
    .flatMap(element => element.getAttributeNames()).filter(name => name.startsWith("on"))"""


def test_a_card_update_changes_the_card_in_place(page: Page, bot: Bot) -> None:
    name = bot.answer(ask(page, "VPN?"), card(step("progress_activity", "Searching")))
    shown = page.get_by_test_id("card")
    expect(shown.get_by_role("img", name="progress_activity")).to_be_visible()
    shown.evaluate("card => { card.kept = true; }")

    bot.change(name, "cardsV2", card(step("check_circle", "Searched"), step("progress_activity", "Writing")))

    expect(shown).to_contain_text("Searched")
    expect(shown).to_contain_text("Writing")
    expect(shown).not_to_contain_text("Searching")
    assert shown.evaluate("card => card.kept") is True
    expect(messages(page, "BOT")).to_contain_text("Edited")


def test_a_section_opened_by_hand_stays_open_through_an_update(page: Page, bot: Bot) -> None:
    folded = {"collapsible": True, "uncollapsibleWidgetsCount": 1}
    widgets = [{"textParagraph": {"text": text}} for text in ("first", "second")]
    name = bot.answer(ask(page, "VPN?"), card(*widgets, **folded))
    expect(page.get_by_text("first")).to_be_visible()
    expect(page.get_by_text("second")).to_be_hidden()
    page.get_by_text("Show more").click()

    bot.change(name, "cardsV2", card(*widgets, {"textParagraph": {"text": "third"}}, **folded))

    expect(page.get_by_text("third")).to_be_visible()
    expect(page.get_by_text("second")).to_be_visible()


def test_an_answer_takes_the_place_of_the_card(page: Page, bot: Bot) -> None:
    name = bot.answer(ask(page, "VPN?"), card(step("search", "Searching")))
    expect(page.get_by_test_id("card")).to_be_visible()

    markdown = {"text": "Use **Settings** and `vpn.example.com`.", "markupSyntax": "MARKUP_SYNTAX_MARKDOWN"}
    bot.change(name, "text,cardsV2", markdown)

    expect(messages(page, "BOT")).to_contain_text("Use Settings and vpn.example.com.")
    expect(messages(page, "BOT").locator("strong")).to_have_text("Settings")
    expect(page.get_by_test_id("card")).to_have_count(0)


def test_an_update_does_not_move_a_reader_who_scrolled_back(page: Page, bot: Bot) -> None:
    for number in range(12):
        thread = ask(page, f"question {number}\n\nwith three lines")
    name = bot.answer(thread, card(step("search", "Searching")))
    stream = page.get_by_role("log")
    expect(stream).to_contain_text("Searching")
    stream.evaluate("element => { element.scrollTop = 40; }")
    expect(page.get_by_role("button", name="Latest messages")).to_be_visible()

    bot.change(name, "cardsV2", card(step("check_circle", "Searched"), step("search", "Reading")))

    expect(stream).to_contain_text("Reading")
    assert stream.evaluate("element => element.scrollTop") == 40


def test_buttons_and_sources_open_in_a_new_tab(page: Page, bot: Bot) -> None:
    target = {"openLink": {"url": "https://kb.example.com/vpn"}}
    source = {"decoratedText": {"text": "Set up the VPN", "onClick": target}}
    button = {"buttonList": {"buttons": [{"text": "Open", "onClick": target}]}}
    accessory = {"buttonList": {"buttons": [{"text": "Feedback", "onClick": target}]}}
    bot.answer(ask(page, "VPN?"), {**card(source, button), "accessoryWidgets": [accessory]})

    for name in ("Set up the VPN", "Open", "Feedback"):
        shown = page.get_by_role("link", name=name, exact=True)
        expect(shown).to_have_attribute("href", "https://kb.example.com/vpn")
        expect(shown).to_have_attribute("target", "_blank")
        expect(shown).to_have_attribute("rel", "noopener noreferrer")


def test_markdown_in_a_card_is_shown_formatted(page: Page, bot: Bot) -> None:
    bot.answer(ask(page, "VPN?"), card({"textParagraph": {"text": MARKDOWN, "textSyntax": "MARKDOWN"}}))

    link = '<a href="https://kb.example.com/a" target="_blank" rel="noopener noreferrer">deep</a>'
    assert page.get_by_test_id("card").locator(".rich").inner_html() == (
        "<p><b>Bold</b> and <i>italic</i>, a_b_c <s>gone</s> <code>x*y*</code></p>"
        f"<ul><li>one<ul><li>{link}</li></ul></li></ul><ol><li>first</li></ol><pre><code>a  b</code></pre>"
    )


def test_script_in_a_message_or_a_card_does_nothing(page: Page, bot: Bot) -> None:
    text = f"{ATTACK} [press](javascript:window.hacked=1)"
    press = {"openLink": {"url": "javascript:window.hacked=1"}}
    widgets: list[Json] = [
        {"textParagraph": {"text": ATTACK}},
        {"textParagraph": {"text": text, "textSyntax": "MARKDOWN"}},
        {"decoratedText": {"text": ATTACK, "topLabel": ATTACK, "onClick": press}},
    ]
    bot.answer(ask(page, ATTACK), {"text": text, **card(*widgets, header=ATTACK)})
    expect(page.get_by_test_id("card")).to_be_visible()

    stream = page.get_by_role("log")
    assert stream.locator("script, iframe, object, img[src=x], [style], a[href^=javascript]").count() == 0
    assert stream.evaluate(HANDLERS) == []
    assert page.evaluate("window.hacked") is None
    expect(messages(page, "HUMAN")).to_contain_text('<img src="x" onerror="window.hacked=1">')


def test_the_page_keeps_within_its_own_security_policy(page: Page, bot: Bot) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    name = bot.answer(ask(page, "VPN?"), card(coloured("#ff0000"), step("search", "Searching")))
    text = page.get_by_text("coloured")
    expect(text).to_have_css("color", "rgb(255, 0, 0)")

    bot.change(name, "cardsV2", card(coloured("blue"), step("search", "Reading")))

    expect(text).to_have_css("color", "rgb(0, 0, 255)")
    assert complaints == []


def coloured(colour: str) -> Json:
    return {"textParagraph": {"text": f'<font color="{colour}">coloured</font>'}}
