"""Chat's events: what is understood, and what is not."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingest_fn.events import Asked, Ignored, Mentioned, storable, understand
from shared.errors import Permanent

EVENTS = Path(__file__).parent / "events"


def event(name: str, **changes: Any) -> dict[str, Any]:
    """A golden event, with some of its top-level fields replaced."""
    return {**json.loads((EVENTS / f"{name}.json").read_text()), **changes}


def understood(given: dict[str, Any]) -> Any:
    return understand(json.dumps(given).encode())


def message(name: str, **changes: Any) -> dict[str, Any]:
    """A golden event, with some of its message's fields replaced (None: left out)."""
    given = event(name)
    changed = {**given["message"], **changes}
    return {**given, "message": {key: value for key, value in changed.items() if value is not None}}


def test_a_mention_in_a_space_is_a_question_without_the_mention() -> None:
    asked = understood(event("message-in-space"))

    assert isinstance(asked, Asked)
    assert asked.question.text == "how do I rotate a key?"
    assert asked.question.id == "spaces/AAAA/messages/TTTT.TTTT"
    assert asked.question.person == "users/1111"
    assert asked.question.language == "ja"
    assert asked.question.asked_at.isoformat() == "2026-11-30T01:02:03.456789+00:00"


def test_in_a_space_the_conversation_is_the_thread() -> None:
    asked = understood(event("message-in-space")).question

    assert asked.conversation == asked.thread == "spaces/AAAA/threads/TTTT"


def test_in_a_direct_message_the_conversation_is_the_space() -> None:
    asked = understood(event("message-in-dm")).question

    assert asked.conversation == "spaces/DM1"
    assert asked.thread is None


def test_a_reply_in_a_thread_of_a_direct_message_stays_there() -> None:
    asked = understood(message("message-in-dm", threadReply=True)).question

    assert asked.conversation == asked.thread == "spaces/DM1/threads/D1"


def test_a_mention_and_nothing_else_is_no_question() -> None:
    assert isinstance(understood(message("message-in-space", argumentText=None)), Mentioned)
    assert isinstance(understood(message("message-in-space", argumentText="  \n ")), Mentioned)


def test_without_argument_text_a_message_that_mentions_nobody_is_taken_as_it_is() -> None:
    asked = understood(message("message-in-dm", argumentText=None)).question

    assert asked.text == "How do I configure the VPN?"


@pytest.mark.parametrize("locale, language", [("en-GB", "en"), (None, "en"), (7, "en")])
def test_a_missing_locale_leaves_it_to_the_script(locale: Any, language: str) -> None:
    given = event("message-in-space", common={"userLocale": locale})

    assert understood(given).question.language == language


def test_a_bot_is_not_answered() -> None:
    sender = {"name": "users/9", "type": "BOT"}

    assert isinstance(understood(message("message-in-space", sender=sender)), Ignored)


@pytest.mark.parametrize(
    "kind", ["ADDED_TO_SPACE", "REMOVED_FROM_SPACE", "CARD_CLICKED", "APP_COMMAND", "WIDGET_UPDATED"]
)
def test_other_kinds_of_event_need_no_answer(kind: str) -> None:
    assert understood({"type": kind, "space": {"name": "spaces/AAAA"}}) == Ignored(kind)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"type": 3}',
        b'{"type": "MESSAGE"}',
        b'{"type": "MESSAGE", "message": {"name": "spaces/A/messages/B"}}',
        b'{"type": "MESSAGE", "message": {"name": "../x", "thread": {"name": "spaces/A/threads/B"}}}',
        b'{"type": "MESSAGE", "message": {"name": ["spaces/A/messages/B"]}, "space": 3}',
        b"[" * 50_000,
    ],
    ids=lambda body: repr(body[:24]),
)
def test_what_is_no_event_is_named_and_permanent(body: bytes) -> None:
    with pytest.raises(Permanent, match="event_malformed"):
        understand(body)


@pytest.mark.parametrize("value", [None, 3, "yesterday", "2026-11-30T01:02:03", {}])
def test_an_unreadable_time_is_now(value: Any) -> None:
    asked = understood(message("message-in-space", createTime=value))

    assert asked.question.asked_at.tzinfo is not None


def test_tokens_are_not_kept() -> None:
    secret = {"authorizationEventObject": {"userOAuthToken": "s3cret"}, "token": "s3cret"}
    body = json.dumps(event("message-in-space", **secret)).encode()

    assert b"s3cret" not in storable(body)
    assert b"bot_config_complete" not in storable(body)
    assert json.loads(storable(body))["message"]["name"] == "spaces/AAAA/messages/TTTT.TTTT"
