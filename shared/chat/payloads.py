"""Converts the two formats of Google Chat's interaction events into one.

Classic: `type` names the kind, and all fields are at the top level (the Chat API's schema DeprecatedEvent).
Add-on: `chat` has exactly one payload, and its key is the kind (developers.google.com, "Workspace add-ons:
event objects"). The format is detected for each event, because it changes at once when somebody converts a
Chat app to an add-on.
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
#: Tokens, and links that contain one. They are never stored.
_SECRETS = {
    "authorizationEventObject",
    "configCompleteRedirectUri",
    "configCompleteRedirectUrl",
    "systemIdToken",
    "token",
    "userIdToken",
    "userOAuthToken",
}
#: The names in an unknown event that may be logged. Other names may contain what a person wrote.
_NAME = re.compile(r"[A-Za-z][A-Za-z_]{0,39}")


@dataclass(frozen=True)
class Payload:
    """An event of either format. `name` is Chat's name of its kind. Missing parts are empty."""

    kind: Kind
    name: str
    user: Json
    space: Json
    message: Json
    thread: Json
    #: The locale, and the parameters and inputs of a card.
    common: Json
    #: The id of a command, always as a string.
    command_id: str | None
    #: The name of a button's function, and its parameters; only in classic events.
    action: Json
    time: Any
    #: True if an add-on was added by a mention. Chat then sends the message as a second event.
    message_follows: bool


def payload(body: bytes) -> Payload:
    """Read an event.

    Raises Permanent: `event_malformed` if it is not a JSON object, `event_unknown` if it has neither format.
    """
    event = _object(body)
    return _add_on(event) if isinstance(event.get("chat"), dict) else _classic(event)


def storable(body: bytes) -> bytes:
    """The event without tokens. Bytes that are not a JSON object stay unchanged."""
    try:
        event = json.loads(body, object_hook=_without_secrets)
    except (ValueError, RecursionError):
        return body
    return json.dumps(event).encode() if isinstance(event, dict) else body


def part(parent: Json, name: str, otherwise: Any = None) -> Json:
    """The object in a field of an object. Empty if there is none."""
    value = parent.get(name, otherwise)
    return value if isinstance(value, dict) else {}


def parts(parent: Json, name: str) -> list[Json]:
    """The objects in a list in a field of an object."""
    value = parent.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def whole_number(value: Any) -> str | None:
    """`7`, `7.0`, `"7"` and `"7.0"` all give `"7"`. None if it is not a number."""
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
        space=_known(part(message, "space")) | _known(part(event, "space")),
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
        space=_known(part(message, "space")) | _known(part(inner, "space", chat.get("space"))),
        message=message,
        thread=part(message, "thread", inner.get("thread")),
        common=part(event, "commonEventObject"),
        command_id=whole_number(asked or part(message, "slashCommand").get("commandId")),
        action={},
        time=chat.get("eventTime"),
        message_follows=inner.get("interactionAdd") is True,
    )


def _known(space: Json) -> Json:
    """What an event states of a space. It may have the space in several places, each with a part of it."""
    return {
        name: value
        for name, value in space.items()
        if value not in (None, "") and not str(value).endswith("_UNSPECIFIED")
    }


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
