"""`dead discard`: give dead letters up for good: backed up, and with the asker told."""

import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ops import archive_file
from ops.audit import Operation, new_operation
from ops.case import Case
from ops.console import confirm, note, say
from ops.errors import Exit, OpsError
from ops.options import Note, Yes
from ops.selection import Selection, selecting
from ops.store import Change
from ops.world import World
from shared.cases import DISCARDED
from shared.cloudevent import Message
from shared.deadline import Deadline
from shared.firestore import Fields

#: Seconds to wait until the asker is told.
WAIT = 30.0
NOT_TOLD = "not discarded: the asker could not be told"


@selecting
def dead_discard(
    context: typer.Context,
    selection: Selection,
    backup: Annotated[
        Path | None, typer.Option(help="The backup's file; by default a new one here.", show_default=False)
    ] = None,
    why: Note = "",
    yes: Yes = False,
) -> None:
    """Give dead letters up for good.

    A backup is written first, and whoever asked is told if they have not been. `dead import` brings a
    backup back.

    \b
    Example:
      python -m ops dead discard TW-1A2B3C4D --reason "was a test"
    """
    world: World = context.obj
    if not selection.narrow:
        raise OpsError("Which ones? Name them or give a filter. Nothing was done.", Exit.INVALID)
    cases = world.store.chosen(selection)
    if not cases:
        note("No dead letter is selected.")
        return
    confirm(f"Discard {len(cases)} dead letters ({selection})? They can then not be replayed.", yes=yes)
    path = backup or Path(f"discarded-{datetime.now(UTC):%Y%m%d-%H%M%S}.jsonl")
    archive_file.write(path, world.store.whole([case.id for case in cases]))
    note(f"The backup is {path}; it holds what people wrote.")
    operation = new_operation("discard", world.settings.operator, why)
    world.audit.begin(operation, f"{selection} backup={path}")
    outcomes = {case.reference: _discarded(case, operation, world) for case in cases}
    world.audit.finish(operation, Counter(outcomes.values()))
    for reference, outcome in outcomes.items():
        say(f"{reference}  {outcome}")
    if NOT_TOLD in outcomes.values():
        raise typer.Exit(Exit.FAILED)


def _discarded(case: Case, operation: Operation, world: World) -> str:
    told = case.told or case.answered_at is not None or case.space is None or _tell(case, world)

    def decide(current: Fields) -> Change:
        if current.get("state") != case.state:
            return Change(f"{current.get('state')} – skipped")
        if not told:
            return Change(NOT_TOLD)
        return Change(DISCARDED, {"state": DISCARDED, "data": None, "edits": []})

    return world.store.act(case.id, operation, decide).outcome


def _tell(case: Case, world: World) -> bool:
    """Have `tell` say sorry, as it does for every dead letter; whether it has within the time."""
    whole = Case.read(case.id, world.store.fields(case.id) or {})
    if not isinstance(whole.data, bytes):
        return False
    marks = {"dead-letter-step": case.step or "", "dead-letter-reason": case.reason}
    attributes = {**whole.attributes, **{name: value for name, value in marks.items() if value}}
    topic = world.settings.named(world.settings.dead_letter_topic)
    world.outbox.send(topic, Message(whole.data, attributes), Deadline(WAIT))
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        fields = world.store.fields(case.id) or {}
        if fields.get("told") or fields.get("answered_at"):
            return True
        time.sleep(0.5)
    return False
