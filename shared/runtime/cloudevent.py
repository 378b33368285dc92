"""The CloudEvents Pub/Sub protocol binding, binary mode.

On Pub/Sub the CloudEvent's attributes are message attributes (`ce-id`, …, `content-type`) and its data is
the message's data. A push subscription that unwraps the payload and writes metadata turns the attributes
into HTTP headers, so that the request is a CloudEvent in the HTTP binding's binary mode.
"""

import re
import secrets
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from cloudevents.http import from_http

from shared.runtime.errors import Permanent

#: Attributes become HTTP headers. Gunicorn silently drops names with `_`, and proxies may change other names.
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_LONGEST_VALUE = 256
_VALUE = re.compile(rf"[\x20-\x7e]{{1,{_LONGEST_VALUE}}}")
MOST_ATTRIBUTES = 30
LONGEST_NAME = 128
#: How often an operator has replayed the question of a message, and in which operation. WAY: see `passed_on`.
REPLAY_COUNT, REPLAY_NAME, WAY = "replay-count", "replay-name", "way"
_NEEDED = {"ce-id", "ce-source", "ce-specversion", "ce-time", "ce-type", "content-type", "traceparent"}
#: One entry of the way: the step, when it began (Unix time), and how long it took (seconds).
PASSED_ON = re.compile(r"([a-z]+)@(\d{1,10})\+(\d{1,6}\.\d)")
_TRACE = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
#: The headers of a request that belong to the message. A dead letter and its replay must keep them.
_OF_THE_MESSAGE = re.compile(r"(ce|replay|dead-letter)-[a-z0-9-]+|content-type|traceparent|way")


@dataclass(frozen=True)
class Message:
    """One message on Pub/Sub."""

    data: bytes
    attributes: dict[str, str]

    def __post_init__(self) -> None:
        for name, value in self.attributes.items():
            if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
                raise ValueError(f"attribute {name!r} cannot travel as an HTTP header")
        if "content-type" not in self.attributes or len(self.attributes) > MOST_ATTRIBUTES:
            raise ValueError(f"a message needs content-type and at most {MOST_ATTRIBUTES} attributes")


def trace_of(headers: Mapping[str, str]) -> str:
    """The W3C trace context of a request, or a new one."""
    given = headers.get("traceparent", "")
    return given if _TRACE.fullmatch(given) else f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"


def derived_id(question_id: str, step: str) -> str:
    """The id of the event that `step` sends for a question. It is the same when the event is sent again."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"threadwise:{question_id}:{step}"))


def passed_on(attributes: Mapping[str, str], step: str, seconds: float) -> dict[str, str]:
    """The attributes that a step passes on to its outgoing message: the replay it belongs to, and the way.

    The way has `<step>@<Unix time>+<seconds>` for each step so far, in order, such as
    `ingest@1764500581+0.2`.
    """
    replay = {name: attributes[name] for name in (REPLAY_COUNT, REPLAY_NAME) if name in attributes}
    here = f"{step}@{time.time() - seconds:.0f}+{seconds:.1f}"
    way = " ".join(part for part in (attributes.get(WAY), here) if part)
    return {**replay, WAY: way[-_LONGEST_VALUE:]}


def seconds_of(attributes: Mapping[str, str]) -> dict[str, float]:
    """How long each earlier step took, in seconds."""
    return {step: float(seconds) for step, _, seconds in PASSED_ON.findall(attributes.get(WAY, ""))}


def message(
    data: bytes, *, question_id: str, step: str, trace: str, inherited: Mapping[str, str] | None = None
) -> Message:
    """The message with which `step` passes a question on."""
    attributes = {
        "ce-id": derived_id(question_id, step),
        "ce-source": f"//threadwise/{step}",
        "ce-specversion": "1.0",
        "ce-time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "ce-type": f"threadwise.{step}.v1",
        "content-type": "application/json",
        "traceparent": trace,
        **(inherited or {}),
    }
    return Message(data, attributes)


def data_of(headers: Mapping[str, str], body: bytes) -> bytes:
    """The data of a CloudEvent that arrived by HTTP. Raises Permanent (`not_a_cloudevent`)."""
    if "ce-specversion" not in {name.lower() for name in headers}:
        raise Permanent("not_a_cloudevent", "no ce-specversion header")
    try:
        event = from_http(headers, body, data_unmarshaller=lambda raw: raw)
    except Exception as error:  # the library may raise anything on unknown bytes
        raise Permanent("not_a_cloudevent", type(error).__name__) from None
    data = event.get_data()
    if not isinstance(data, bytes):
        raise Permanent("not_a_cloudevent", "no data")
    return data


def is_whole(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the whole body of a request has arrived.

    If the caller disconnects too early, gunicorn passes on the part it has, without an error. The caller
    sends such a request again.
    """
    length = {name.lower(): value for name, value in headers.items()}.get("content-length", "")
    return not length.isdecimal() or int(length) == len(body)


def received_attributes(headers: Mapping[str, str]) -> dict[str, str]:
    """The message's own attributes among the headers of a push. Those that cannot be sent on are left out."""
    lowered = {name.lower(): value for name, value in headers.items()}
    own = [
        (name, value)
        for name, value in lowered.items()
        if _OF_THE_MESSAGE.fullmatch(name) and len(name) <= LONGEST_NAME and _VALUE.fullmatch(value)
    ]
    # Leave room for the attributes of a dead letter. The CloudEvent's own attributes have priority.
    kept = sorted(own, key=lambda pair: pair[0] not in _NEEDED)[: MOST_ATTRIBUTES - 4]
    return {"content-type": "application/octet-stream", **dict(kept)}
