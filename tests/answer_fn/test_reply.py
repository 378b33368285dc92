"""What the final message says beyond the answer itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answer_fn.blocks import parse
from answer_fn.compose import Composed
from answer_fn.reply import ending_of
from shared.chat.api import Content, fits
from shared.chat.buttons import ratings
from shared.chat.endings import contents_of
from shared.language.catalogue import text
from tests.support.factories import envelope, question, source

ANSWER = Composed(
    parse("Install the client [1].").blocks(set(), lambda group: f" [{group}]"),
    (source("c1", 1, "VPN", None),),
)


def late(text: str, **fields: Any) -> str:
    asked = question(text=text, asked_at=datetime.now(UTC) - timedelta(hours=30), **fields)
    return ending_of(ANSWER, envelope(question=asked), 24, None).text


def test_an_answer_that_comes_late_says_which_question_it_belongs_to() -> None:
    said = late("How do I configure\nthe VPN?")

    assert said.startswith("Late answer to your question from ")
    assert "\n> How do I configure the VPN?\n\nInstall the client [1]." in said


def test_a_late_answer_in_japanese_says_so_in_japanese() -> None:
    assert "遅くなりましたが" in late("VPNの設定方法は？", language="ja")


def test_an_answer_in_time_says_no_more_than_the_answer() -> None:
    said = ending_of(ANSWER, envelope(question=question()), 24, None).text

    assert said.startswith("Install the client [1].")


def test_a_late_fallback_says_which_question_it_belongs_to() -> None:
    asked = question(asked_at=datetime.now(UTC) - timedelta(minutes=11))

    assert "> How do I configure the VPN?" in ending_of(None, envelope(question=asked), 24, None).text


@pytest.mark.parametrize(
    "attack", ["<users/all> hello", "[click](https://evil.example)", "https://evil.example"]
)
def test_the_quoted_question_mentions_nobody_and_links_nowhere(attack: str) -> None:
    said = late(attack)

    assert "<users/all>" not in said
    assert "](https://evil" not in said and " https://evil.example" not in said


LONG = "Open the settings and choose the network that is named there [1]. " * 200


def long_answer(**fields: Any) -> list[Content]:
    blocks = parse(LONG).blocks(set(), lambda group: f" [{group}]")
    sources = tuple(
        source(f"c{number}", number, "<b>" + "漢" * 80, f"https://kb.example/{'x' * 370}?{number}")
        for number in range(1, 9)
    )
    sent = envelope(search_query="漢" * 300)
    return contents_of(ending_of(Composed(blocks, sources), sent, 24, None), sent.question)


def test_a_long_answer_is_not_cut_but_goes_on_in_further_messages() -> None:
    found = long_answer()

    assert len(found) == 4
    assert "".join(part.text for part in found).count("Open the settings") == 200
    assert all(fits(part) for part in found)


def test_the_hint_and_the_sources_are_under_the_last_part() -> None:
    *before, last = long_answer()

    assert text("en", "answer", "hint", hours="24") in last.text
    assert [bool(part.cards) for part in [*before, last]] == [False, False, False, True]


def widgets_of(content: Content, section: int = 0) -> list[dict[str, Any]]:
    return list(content.cards[0]["card"]["sections"][section]["widgets"])


def test_what_the_sources_say_is_quoted_below_their_titles_and_folded_away() -> None:
    passage = "# VPN\n\n1. **Install** the `client`, then <users/all>\n" + "and so on " * 50
    sources = (source("c1", 1, "VPN", None, passage), source("c2", 2, "MFA", None))
    sent = envelope()

    [content] = contents_of(ending_of(Composed(ANSWER.blocks, sources), sent, 24, None), sent.question)

    section = content.cards[0]["card"]["sections"][0]
    assert (section["collapsible"], section["uncollapsible_widgets_count"]) == (True, 2)
    *_, quote = widgets_of(content)
    said = quote["text_paragraph"]["text"]
    assert said.startswith("[1] <i>VPN 1. Install the client, then &lt;users/all&gt; and so on")
    assert len(said) < 300
    assert fits(content)


def test_without_quotes_nothing_is_folded_away() -> None:
    sent = envelope()

    [content] = contents_of(ending_of(ANSWER, sent, 24, None), sent.question)

    assert "collapsible" not in content.cards[0]["card"]["sections"][0]


@pytest.mark.parametrize("kind", ["answer", "fallback", "apology"])
def test_the_longest_of_everything_fits_with_its_buttons(kind: str) -> None:
    """Also after a thumb down, when most buttons are below it."""
    name = f"spaces/{'s' * 60}/messages/{'m' * 120}"
    asked = question(id=name, space=f"spaces/{'s' * 60}", language="ja", text="漢" * 300)
    sent = envelope(question=asked, search_query="漢" * 900, click_target="https://example.com/" + "x" * 200)
    sources = [source(f"c{n}", n, "漢" * 200, f"https://kb/{'x' * 390}", "漢字" * 300) for n in range(1, 9)]
    blocks = parse("漢字" * 1_900).blocks(set(), lambda group: f" [{group}]")
    composed = Composed(blocks, tuple(sources)) if kind == "answer" else None
    ending = ending_of(composed, sent, 24, "漢" * 300).model_copy(update={"kind": kind})

    *_, last = contents_of(ending, asked)

    assert last.accessory
    largest = ratings(ending, asked, "down")
    assert fits(Content(last.text, last.cards, last.bare, largest))


def test_a_question_that_was_searched_for_otherwise_says_so_also_where_nothing_was_found() -> None:
    sent = envelope(search_query="VPN on a Mac", button="threadwise")

    [content] = contents_of(ending_of(None, sent, 24, None), sent.question)

    searched, offered = widgets_of(content)
    assert "I searched for: VPN on a Mac" in searched["decorated_text"]["text"]
    assert offered["button_list"]["buttons"][0]["text"] == text("en", "button", "literal")


def test_without_its_card_an_answer_lists_its_sources_in_the_text() -> None:
    sources = (source("c1", 1, "VPN <users/all>", "https://kb.example/vpn"), source("c2", 2, "MFA", None))
    sent = envelope()

    [content] = contents_of(ending_of(Composed(ANSWER.blocks, sources), sent, 24, None), sent.question)

    assert content.bare.endswith(
        "**Sources**  \n\\[1\\] VPN ‹users/all> https://kb.example/vpn  \n\\[2\\] MFA"
    )


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_fallback_names_whom_to_ask_if_that_is_set(language: str) -> None:
    sent = envelope(question=question(language=language))

    named = ending_of(None, sent, 24, "help@corp.example").text
    unset = ending_of(None, sent, 24, None).text

    assert named.startswith(unset)
    assert text(language, "answer", "contact", contact="help@corp.example") in named
    assert unset == text(language, "answer", "not_found")
