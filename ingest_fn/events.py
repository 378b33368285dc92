"""Chat's classic interaction events, understood (developers.google.com/workspace/chat, DeprecatedEvent)."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared.envelope import Question
from shared.errors import Permanent
from shared.language import of_person

_MESSAGE = re.compile(r"spaces/[!-.0-~]+/messages/[!-.0-~]+")
_SECRETS = {"authorizationEventObject", "token", "configCompleteRedirectUrl"}
_THREAD = re.compile(r"spaces/[!-.0-~]+/threads/[!-.0-~]+")


@dataclass(frozen=True)
class Asked:
    """A person has written to the bot. `question.text` is what they wrote, without the mention."""

    question: Question


@dataclass(frozen=True)
class Mentioned:
    """A person has mentioned the bot and said nothing. The question's text is a placeholder."""

    question: Question


@dataclass(frozen=True)
class Ignored:
    """An event that needs no answer; `kind` is the event's type."""

    kind: str


Event = Asked | Mentioned | Ignored


def understand(body: bytes) -> Event:
    """Read an event. Raises Permanent (`event_malformed`) when it is no Chat event that we know."""
    event = _object(body)
    kind = event.get("type")
    if not isinstance(kind, str):
        raise Permanent("event_malformed", "no type")
    if kind != "MESSAGE":
        return Ignored(kind)
    message, space = _part(event, "message"), _part(event, "space")
    if _part(message, "sender", event.get("user")).get("type") == "BOT":
        return Ignored("MESSAGE of a bot")
    text = _words(message)
    question = _question(event, message, space, text or "-")
    return Asked(question) if text else Mentioned(question)


def storable(body: bytes) -> bytes:
    """The event without what must not be stored: tokens, and links that carry one."""
    try:
        event = _object(body)
    except Permanent:
        return body
    return json.dumps({key: value for key, value in event.items() if key not in _SECRETS}).encode()


def _object(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise Permanent("event_malformed", "not JSON") from None
    if not isinstance(event, dict):
        raise Permanent("event_malformed", "not a JSON object")
    return event


def _part(parent: dict[str, Any], name: str, otherwise: Any = None) -> dict[str, Any]:
    value = parent.get(name, otherwise)
    return value if isinstance(value, dict) else {}


def _words(message: dict[str, Any]) -> str:
    """What the person said, without any mention of a Chat app.

    `argumentText` is that, with spaces around, and it is missing when there is nothing but the mention;
    then `text` would be the mention itself.
    """
    argument, text = message.get("argumentText"), message.get("text")
    if isinstance(argument, str):
        return _whole(argument).strip()
    return "" if _mentions_a_bot(message) or not isinstance(text, str) else _whole(text).strip()


def _whole(text: str) -> str:
    """Without the half of an emoji that was cut in two, which cannot be encoded."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _mentions_a_bot(message: dict[str, Any]) -> bool:
    annotations = message.get("annotations")
    return any(
        _part(_part(annotation, "userMention"), "user").get("type") == "BOT"
        for annotation in (annotations if isinstance(annotations, list) else [])
        if isinstance(annotation, dict)
    )


def _question(event: dict[str, Any], message: dict[str, Any], space: dict[str, Any], text: str) -> Question:
    name = _name(message.get("name"), _MESSAGE, "message.name")
    space_name = "/".join(name.split("/")[:2])
    thread = _name(_part(message, "thread", event.get("thread")).get("name"), _THREAD, "thread.name")
    # A direct message starts a new thread each time, but the person sees one conversation.
    in_thread = not _is_direct(space) or message.get("threadReply") is True
    return Question(
        id=name,
        conversation=thread if in_thread else space_name,
        space=space_name,
        thread=thread if in_thread else None,
        person=_whole(str(_part(event, "user", message.get("sender")).get("name") or "users/unknown")),
        text=text,
        language=of_person(_locale(event), text),
        asked_at=_time(message.get("createTime") or event.get("eventTime")),
    )


def _name(value: Any, pattern: re.Pattern[str], where: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value) or len(value) > 400:
        raise Permanent("event_malformed", where)
    return value


def _is_direct(space: dict[str, Any]) -> bool:
    return (
        space.get("spaceType") == "DIRECT_MESSAGE"
        or space.get("type") == "DM"
        or space.get("singleUserBotDm") is True
    )


def _locale(event: dict[str, Any]) -> str | None:
    locale = _part(event, "common").get("userLocale")
    return locale if isinstance(locale, str) else None


def _time(value: Any) -> datetime:
    try:
        asked_at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return datetime.now(UTC)
    return asked_at if asked_at.tzinfo else asked_at.replace(tzinfo=UTC)
