"""`dead archive` and `dead restore`: hide dead letters and bring them back. Nothing is deleted."""

from collections import Counter

import typer

from ops.audit import Operation, new_operation
from ops.changes import Change
from ops.console import confirm, note, progressing
from ops.errors import Exit, OpsError
from ops.options import Note, Yes
from ops.selection import Selection, selecting
from ops.world import World
from shared.memory.cases import ARCHIVED, OPEN
from shared.memory.firestore import Fields


@selecting
def dead_archive(context: typer.Context, selection: Selection, why: Note = "", yes: Yes = False) -> None:
    """Hide dead letters without deleting them.

    Bulk replays leave archived dead letters alone.

    \b
    Example:
      python -m ops dead archive --group 1f2e3d --reason "asked again since"
    """
    move(context.obj, selection, "archive", OPEN, ARCHIVED, why, yes=yes)


def move(
    world: World, selection: Selection, action: str, before: str, after: str, why: str, *, yes: bool
) -> None:
    """Move the selected cases from one state to another. Raises OpsError without IDs or filters."""
    if not selection.narrow:
        raise OpsError("Which ones? Give IDs or a filter. Nothing was done.", Exit.INVALID)
    cases = world.store.chosen(selection)
    if len(cases) > 1:
        confirm(f"{action.capitalize()} {len(cases)} dead letters ({selection})?", yes=yes)
    operation = new_operation(action, world.settings.operator, why)
    world.audit.begin(operation, str(selection))
    counts = Counter(_moved(case.id, world, operation, before, after) for case in progressing(cases, action))
    world.audit.finish(operation, counts)
    note(", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "No dead letters match.")


def _moved(case_id: str, world: World, operation: Operation, before: str, after: str) -> str:
    def decide(current: Fields) -> Change:
        if current.get("state") != before:
            return Change(f"{current.get('state')} – skipped")
        return Change(after, {"state": after})

    return world.store.act(case_id, operation, decide).outcome
