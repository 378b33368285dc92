"""Everything that is known of one dead letter, for `dead show` and the chat page.

What people wrote is shown only to an operator who asks for it (`with_text`).
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ops.case import Case
from ops.world import World
from shared.memory.firestore import Fields
from shared.pipeline import pipeline
from shared.runtime.cloudevent import PASSED_ON, WAY
from shared.runtime.deadline import Deadline

WAIT = 30.0
#: Our fields without private text: no questions, answers or search queries.
_PUBLIC = re.compile(
    "asked_at|conversation|distance|id|language|link|person|question_id|rewrite_fault|role|space|thread|timestamp|title"
    "|trace|uri|version"
)
UNREADABLE = "(not readable as JSON)"


@dataclass(frozen=True)
class Stop:
    """One event on the path. `seconds` is how long the step took, if that is known."""

    at: datetime
    step: str
    what: str
    seconds: float | None = None


def failures_of(case: Case, world: World) -> list[Fields]:
    """The failure records of a case's question. Raises Permanent or Transient."""
    found = (world.failures.find(case.question_id, step.name, Deadline(WAIT)) for step in pipeline().steps)
    return [record for record in found if record is not None]


def in_full(case: Case, failures: list[Fields], *, with_text: bool) -> dict[str, Any]:
    """A case with its message; some values are datetimes. What people wrote is there only `with_text`."""
    fields = case.model_dump(mode="json", exclude={"data", "edits"})
    stops = [vars(stop) for stop in way_of(case, failures)]
    return {
        **fields,
        "status": case.status,
        "group": case.group,
        "way": stops,
        "failures": failures,
        "envelope": readable(case.data, with_text=with_text),
        "edits": [
            {"at": each.at, "by": each.by, "before": readable(each.before, with_text=with_text)}
            for each in case.edits
        ],
    }


def way_of(case: Case, failures: list[dict[str, Any]]) -> list[Stop]:
    """The stops in order of time."""
    stops = [Stop(case.asked_at, "Chat", "received the question")] if case.asked_at else []
    for step, started, seconds in PASSED_ON.findall(case.attributes.get(WAY, "")):
        passed_on = datetime.fromtimestamp(int(started) + float(seconds), UTC)
        # Steps record whole seconds. A quick step must not seem earlier than the step before it.
        at = max([passed_on, *(stop.at for stop in stops)])
        stops.append(Stop(at, step, "passed it on", float(seconds)))
    for record in failures:
        stops += _failed(record)
    if case.first_at:
        stops.append(Stop(case.first_at, pipeline().teller.name, "kept it as a dead letter"))
    if case.replayed_at:
        stops.append(Stop(case.replayed_at, "ops", f"replayed it ({case.replay_name})"))
    if case.answered_at:
        stops.append(Stop(case.answered_at, pipeline().last.name, "answered"))
    return sorted(stops, key=lambda stop: stop.at)


def _failed(record: dict[str, Any]) -> list[Stop]:
    step, count = str(record.get("step")), record.get("count")
    times = [record.get("first_at"), record.get("last_at")]
    first, last = (at if isinstance(at, datetime) else None for at in times)
    stops = [Stop(first, step, "failed")] if first else []
    if last and last != first:
        stops.append(Stop(last, step, f"failed again, {count} times in total"))
    return stops


def readable(data: object, *, with_text: bool) -> str:
    """The message's data as indented JSON, private texts replaced by their length."""
    if not isinstance(data, bytes):
        return "(not kept: larger than a Firestore document may be, or discarded)"
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data[:2000].decode(errors="replace") if with_text else f"{UNREADABLE}, {len(data)} bytes"
    known = isinstance(value, dict) and "question" in value
    if not with_text and not known:  # we do not know this format, so any part may be private
        return f"(not an envelope of ours, {len(data)} bytes; --with-text shows it)"
    return json.dumps(value if with_text else without_text(value), ensure_ascii=False, indent=2)


def without_text(value: Any, name: str = "") -> Any:
    """The same value. Each text that may be private is replaced by its length."""
    if isinstance(value, dict):
        return {key: without_text(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [without_text(part, name) for part in value]
    return f"({len(value)} characters)" if isinstance(value, str) and not _PUBLIC.fullmatch(name) else value
