"""The golden events: for every kind one file a format, as Chat sends them.

The add-on's come over HTTPS with floats for all numbers and with tokens, over Pub/Sub without.
"""

import json
from typing import Any

from tests import ROOT

FOLDER = ROOT / "tests/ingest_fn/events"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
SHAPES = ("classic", "add-on")


def golden(name: str) -> dict[str, Any]:
    """The event of `events/<name>.json`."""
    event: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return event


def as_bytes(event: Any) -> bytes:
    """An event as it is sent."""
    return json.dumps(event).encode()


def message_of(event: dict[str, Any]) -> dict[str, Any]:
    """The message in an event of either format."""
    holders = [event, *event.get("chat", {}).values()]
    message: dict[str, Any] = next(
        holder["message"] for holder in holders if isinstance(holder, dict) and "message" in holder
    )
    return message


def with_message(event: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The event with fields of its message replaced (None: left out)."""
    copied: dict[str, Any] = json.loads(json.dumps(event))
    message = message_of(copied)
    message.update(changes)
    for name in [name for name, value in changes.items() if value is None]:
        del message[name]
    return copied
