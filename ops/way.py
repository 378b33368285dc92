"""The path of a question before it failed: when each step passed it on, and when a step failed."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ops.case import Case
from shared.pipeline import pipeline
from shared.runtime.cloudevent import PASSED_ON, WAY


@dataclass(frozen=True)
class Stop:
    """One event on the path. `seconds` is how long the step took, if that is known."""

    at: datetime
    step: str
    what: str
    seconds: float | None = None


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
