"""The two formats of Google Chat's interaction events, brought to one.

Classic: `type` names the kind, and everything lies at the top (the Chat API's schema DeprecatedEvent).
Add-on: `chat` holds exactly one payload, whose key *is* the kind (developers.google.com, "Workspace add-ons:
event objects"). Which of the two it is, is told apart for each event: converting a Chat app to an add-on
changes the format of what it is sent overnight.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from shared.runtime.errors import Permanent

Json = dict[str, Any]
Kind = Literal["message", "added", "removed", "clicked", "command", "silent"]

_CLASSIC: dict[str, Kind] = {
    "MESSAGE": "message",
    "ADDED_TO_SPACE": "added",
    "REMOVED_FROM_SPACE": "removed",
    "CARD_CLICKED": "clicked",
    "APP_COMMAND": "command",
    "WIDGET_UPDATED": "silent",
    "APP_HOME": "silent",
    "SUBMIT_FORM": "silent",
}
_ADD_ON: dict[str, Kind] = {
    "messagePayload": "message",
    "addedToSpacePayload": "added",
    "removedFromSpacePayload": "removed",
    "buttonClickedPayload": "clicked",
    "appCommandPayload": "command",
    "widgetUpdatedPayload": "silent",
}
#: Tokens, and links that carry one. They are left out of everything that is stored.
_SECRETS = {
    "authorizationEventObject",
    "configCompleteRedirectUri",
    "configCompleteRedirectUrl",
    "systemIdToken",
    "token",
    "userIdToken",
    "userOAuthToken",
}
#: What of an unknown event's names may be told: somebody may have written the rest.
_NAME = re.compile(r"[A-Za-z][A-Za-z_]{0,39}")


@dataclass(frozen=True)
class Payload:
    """An event of either format. `name` is its kind in Chat's own word; parts that are missing are empty."""

    kind: Kind
    name: str
    user: Json
    space: Json
    message: Json
    thread: Json
    #: Locale, and the parameters and inputs of a card.
    common: Json
    #: Of a command; a string whatever it was sent as.
    command_id: str | None
    #: The classic name of a button's function, and its parameters.
    action: Json
    time: Any
    #: An add-on that is added by a mention is sent the message as a second event.
    message_follows: bool


def payload(body: bytes) -> Payload:
    """Read an event. Raises Permanent: `event_malformed` for no JSON object, `event_unknown` for one of a
    shape that is none of Chat's."""
    event = _object(body)
    return _add_on(event) if isinstance(event.get("chat"), dict) else _classic(event)


def storable(body: bytes) -> bytes:
    """The event without tokens; bytes that are no JSON object are left as they are."""
    try:
        event = json.loads(body, object_hook=_without_secrets)
    except (ValueError, RecursionError):
        return body
    return json.dumps(event).encode() if isinstance(event, dict) else body


def part(parent: Json, name: str, otherwise: Any = None) -> Json:
    """An object in an object; empty where there is none."""
    value = parent.get(name, otherwise)
    return value if isinstance(value, dict) else {}


def parts(parent: Json, name: str) -> list[Json]:
    """The objects of a list in an object."""
    value = parent.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def whole_number(value: Any) -> str | None:
    """`7`, `7.0`, `"7"` and `"7.0"` are all `"7"`; None for what is no number."""
    is_one = isinstance(value, int | float | str) and not isinstance(value, bool)
    try:
        return str(int(float(value))) if is_one else None
    except (ValueError, OverflowError):
        return None


def _classic(event: Json) -> Payload:
    name = event.get("type")
    if not isinstance(name, str) or name not in _CLASSIC:
        named = name if isinstance(name, str) and _NAME.fullmatch(name) else _names(event)
        raise Permanent("event_unknown", f"neither format: {named}")
    message = part(event, "message")
    asked = part(message, "slashCommand").get("commandId")
    return Payload(
        kind=_CLASSIC[name],
        name=name,
        user=part(event, "user", message.get("sender")),
        space=part(event, "space", message.get("space")),
        message=message,
        thread=part(message, "thread", event.get("thread")),
        common=part(event, "common"),
        command_id=whole_number(asked or part(event, "appCommandMetadata").get("appCommandId")),
        action=part(event, "action"),
        time=event.get("eventTime"),
        message_follows=False,
    )


def _add_on(event: Json) -> Payload:
    chat = part(event, "chat")
    found = [name for name in _ADD_ON if isinstance(chat.get(name), dict)]
    if len(found) != 1:
        raise Permanent("event_unknown", f"an add-on's event with {_names(chat)}")
    name, inner = found[0], part(chat, found[0])
    message = part(inner, "message")
    asked = part(inner, "appCommandMetadata").get("appCommandId")
    return Payload(
        kind=_ADD_ON[name],
        name=name,
        user=part(chat, "user", message.get("sender")),
        space=part(inner, "space", chat.get("space")),
        message=message,
        thread=part(message, "thread", inner.get("thread")),
        common=part(event, "commonEventObject"),
        command_id=whole_number(asked or part(message, "slashCommand").get("commandId")),
        action={},
        time=chat.get("eventTime"),
        message_follows=inner.get("interactionAdd") is True,
    )


def _names(event: Json) -> str:
    known = sorted(name for name in event if _NAME.fullmatch(name))
    return ", ".join(known[:8]) or "no names"


def _without_secrets(value: Json) -> Json:
    return {name: inner for name, inner in value.items() if name not in _SECRETS}


def _object(body: bytes) -> Json:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise Permanent("event_malformed", "not JSON") from None
    if not isinstance(event, dict):
        raise Permanent("event_malformed", "not a JSON object")
    return event
