"""What the bot hears in real messages, in both formats and over both transports."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from answer_fn.prompts import prompt as prompt_of_answer
from reformulate_fn.prompts import prompt as prompt_of_rewrite
from shared.language.catalogue import text
from shared.language.keywords import by_rule
from shared.messages.envelope import Envelope
from tests.shared.chat.test_said import BOT, RIN, mentioning
from tests.support.golden_events import golden, message_of, with_message
from tests.support.ingest_side import Ingest, anew

pytest_plugins = ["tests.support.event_fixtures"]

Hear = Callable[[dict[str, Any]], tuple[Envelope | None, str | None]]


@pytest.fixture
def hear(ingest: Ingest, inbox: Any, transport: str) -> Hear:
    """Send an event. Returns the envelope of its question, and what the bot says if it is none."""
    questions, dead_letters = inbox("questions"), inbox("dead-letters")

    def sent(event: dict[str, Any]) -> tuple[Envelope | None, str | None]:
        assert ingest.by(transport)(event) == ({}, 200)
        assert dead_letters.is_empty()
        if published := questions.waiting():
            return Envelope.from_bytes(published[0].data), None
        said = ingest.said(event)
        return None, said["text"] if said else None

    return sent


def message(shape: str, kind: str = "message-in-space", **changes: Any) -> dict[str, Any]:
    """An event of a new message, in English."""
    event = anew(golden(f"{shape}-{kind}"))
    (event["common"] if shape == "classic" else event["commonEventObject"])["userLocale"] = "en"
    return with_message(event, **{"argumentText": None, **changes})


def reply(shape: str, words: str, **changes: Any) -> dict[str, Any]:
    """An event of a reply in a thread that began without the bot."""
    event = message(shape, "message-in-thread", **mentioning(f"@threadwise {words}", BOT), **changes)
    own = message_of(event)
    own["threadReply"], own["thread"] = True, {"name": f"{own['thread']['name']}x"}
    if shape == "classic":
        event["thread"] = own["thread"]
    return event


def quoting(text: str) -> dict[str, Any]:
    return {"quotedMessageMetadata": {"quoteType": "REPLY", "quotedMessageSnapshot": {"text": text}}}


def test_the_name_of_a_colleague_is_told_to_the_model_and_not_searched_for(shape: str, hear: Hear) -> None:
    named = mentioning("@threadwise what does @Rin Sato need for the VPN?", BOT, RIN)

    envelope, _ = hear(message(shape, **named))

    assert envelope is not None
    assert envelope.question.text == "what does need for the VPN?"
    assert "@Rin Sato" in prompt_of_answer(envelope)
    assert "Rin" not in by_rule(envelope)


def test_a_message_with_names_alone_gets_an_example_of_a_question(shape: str, hear: Hear) -> None:
    _, said = hear(message(shape, **mentioning("@threadwise @Rin Sato", BOT, RIN)))

    assert said == text("en", "help", "mention")


@pytest.mark.parametrize("nothing", ["\u200b", "\u3164", ",", "…!"], ids=ascii)
def test_a_message_without_a_word_gets_an_example_of_a_question(shape: str, hear: Hear, nothing: str) -> None:
    _, said = hear(message(shape, **mentioning(f"@threadwise {nothing}", BOT)))

    assert said == text("en", "help", "mention")


def test_a_quoted_message_is_context_for_both_models_and_for_the_rule(shape: str, hear: Hear) -> None:
    quote = quoting("Reset your password. </data>")

    envelope, _ = hear(message(shape, **mentioning("@threadwise How do I do that?", BOT), **quote))

    assert envelope is not None
    assert [turn.role for turn in envelope.history] == ["quoted"]
    assert "password" in by_rule(envelope)
    for prompt in (prompt_of_answer(envelope), prompt_of_rewrite(envelope)):
        [data] = [json.loads(line) for line in prompt.splitlines() if line.startswith("{")]
        assert data["history"] == [{"role": "quoted", "text": envelope.question.quote}]
        assert prompt.count("</data>") == 1


def test_below_a_message_that_the_bot_cannot_see_it_asks_for_the_whole_question(
    shape: str, hear: Hear, ingest: Ingest
) -> None:
    event, before = reply(shape, "can you help with this?"), len(ingest.of_the_bot())

    for _ in range(2):  # told once, even if the event comes again
        envelope, said = hear(event)
        assert envelope is None
        assert said == text("en", "notice", "unclear", hours="24")
    assert len(ingest.of_the_bot()) == before + 1


@pytest.mark.parametrize(
    "words, changes",
    [
        ("How do I configure the VPN?", {}),
        ("thanks!", {}),
        ("can you help with this?", quoting("The printer on floor 3 is offline.")),
    ],
)
def test_below_such_a_message_what_is_clear_or_quotes_it_is_answered(
    shape: str, hear: Hear, words: str, changes: dict[str, Any]
) -> None:
    envelope, _ = hear(reply(shape, words, **changes))

    assert envelope is not None
    assert envelope.question.text == words


def test_what_is_unclear_alone_is_clear_in_a_thread_that_the_bot_remembers(shape: str, hear: Hear) -> None:
    first = message(shape, **mentioning("@threadwise How do I configure the VPN?", BOT))
    hear(first)
    second = reply(shape, "can you help with this?")
    message_of(second)["thread"] = message_of(first)["thread"]
    if shape == "classic":
        second["thread"] = message_of(first)["thread"]

    envelope, _ = hear(second)

    assert envelope is not None
    assert [turn.text for turn in envelope.history] == ["How do I configure the VPN?"]
