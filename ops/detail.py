"""Everything that is known of one dead letter, for `dead show` and the chat page."""

from typing import Any

from ops.case import Case
from ops.envelopes import readable
from ops.way import way_of
from ops.world import World
from shared.memory.firestore import Fields
from shared.pipeline import pipeline
from shared.runtime.deadline import Deadline

WAIT = 30.0


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
