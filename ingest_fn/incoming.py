"""An event as it arrives: over HTTPS from Chat itself, or pushed from the topic of Chat's events.

The pushes from that topic are *wrapped*, because Chat's messages are not CloudEvents and have nothing to put
into headers. An unwrapped push is accepted as well.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ingest_fn.auth import Caller
from shared.runtime.cloudevent import received_attributes, trace_of


@dataclass(frozen=True)
class Incoming:
    """One event. `attributes` are those of the Pub/Sub message, for example the replay that it belongs to.

    `clicks` tells whether clicks on buttons arrive the same way. For an add-on, Pub/Sub brings no clicks.
    """

    body: bytes
    attributes: dict[str, str] = field(default_factory=dict)
    trace: str = ""
    clicks: bool = False


def received(caller: Caller, headers: Mapping[str, str], body: bytes) -> Incoming:
    """Read the event in a request. Never fails: an unreadable push is passed on unchanged.

    `headers` are in lower case.
    """
    if caller == "chat":
        return Incoming(body, trace=trace_of(headers), clicks=True)
    wrapped = _wrapped(body)
    if wrapped is None:
        return Incoming(body, received_attributes(headers), trace_of(headers))
    given = wrapped.get("attributes")
    attributes = {
        name: value
        for name, value in (given if isinstance(given, dict) else {}).items()
        if isinstance(value, str)
    }
    return Incoming(
        base64.b64decode(wrapped["data"]),
        received_attributes(attributes),
        trace_of({**headers, **attributes}),
    )


def _wrapped(body: bytes) -> dict[str, Any] | None:
    """The message of a wrapped push: `{"message": {"data": base64, …}, "subscription": …}`."""
    try:
        push = json.loads(body)
        message = push["message"]
        base64.b64decode(message["data"], validate=True)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return message if isinstance(message, dict) and isinstance(push.get("subscription"), str) else None
