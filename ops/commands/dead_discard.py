"""`dead discard`: give up dead letters for good, after a backup and a message to the asker."""

import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ops import export_file
from ops.audit import Operation, new_operation
from ops.case import Case
from ops.changes import Change
from ops.console import confirm, note, progressing, say
from ops.errors import Exit, OpsError
from ops.options import Note, Yes
from ops.selection import Selection, selecting
from ops.world import World
from shared.memory.cases import DISCARDED
from shared.memory.firestore import Fields
from shared.runtime.cloudevent import Message
from shared.runtime.deadline import Deadline

#: Seconds to wait until the askers are told, and seconds between two checks.
WAIT = 30.0
LOOK_EVERY = 0.5
NOT_TOLD = "not discarded: the asker could not be told"


@selecting
def dead_discard(
    context: typer.Context,
    selection: Selection,
    backup: Annotated[
        Path | None, typer.Option(help="Backup file. Default: a new file in this folder.", show_default=False)
    ] = None,
    why: Note = "",
    yes: Yes = False,
) -> None:
    """Give up dead letters for good.

    First a backup is written, and askers who have not been told yet are told. `dead import` restores a
    backup.

    \b
    Example:
      python -m ops dead discard TW-1A2B3C4D --reason "was a test"
    """
    world: World = context.obj
    if not selection.narrow:
        raise OpsError("Which ones? Give IDs or a filter. Nothing was done.", Exit.INVALID)
    cases = world.store.chosen(selection)
    if not cases:
        note("No dead letters match.")
        return
    confirm(f"Discard {len(cases)} dead letters ({selection})? You cannot replay them afterwards.", yes=yes)
    path = backup or Path(f"discarded-{datetime.now(UTC):%Y%m%d-%H%M%S}.jsonl")
    export_file.write(path, world.store.whole([case.id for case in cases]))
    note(f"The backup is {path}. It contains private text.")
    operation = new_operation("discard", world.settings.operator, why)
    world.audit.begin(operation, f"{selection} backup={path}")
    untold = _tell([case for case in cases if _to_be_told(case)], world)
    outcomes = [
        _discarded(case, operation, world, told=case.id not in untold)
        for case in progressing(cases, "discard")
    ]
    world.audit.finish(operation, Counter(outcomes))
    for case, outcome in zip(cases, outcomes, strict=True):
        say(f"{case.reference}  {outcome}")
    if NOT_TOLD in outcomes:
        raise typer.Exit(Exit.FAILED)


def _to_be_told(case: Case) -> bool:
    return not case.told and case.answered_at is None and case.space is not None


def _tell(cases: list[Case], world: World) -> set[str]:
    """Ask `tell` to apologise. Returns the cases whose askers were not told in time."""
    untold = {case.id for case in cases}
    for case_id, fields in world.store.whole(sorted(untold)):
        case = Case.read(case_id, fields)
        if isinstance(case.data, bytes):
            _send(case, case.data, world)
    until = time.monotonic() + WAIT
    while untold and time.monotonic() < until:
        time.sleep(LOOK_EVERY)
        for case_id, fields in world.store.several(sorted(untold), ["told", "answered_at"]).items():
            if fields.get("told") or fields.get("answered_at"):
                untold.remove(case_id)
    return untold


def _send(case: Case, data: bytes, world: World) -> None:
    marks = {"dead-letter-step": case.step or "", "dead-letter-reason": case.reason}
    attributes = {**case.attributes, **{name: value for name, value in marks.items() if value}}
    topic = world.settings.named(world.settings.dead_letter_topic)
    try:
        world.outbox.send(topic, Message(data, attributes), Deadline(WAIT))
    except ValueError as error:  # attributes of an unknown publisher that Pub/Sub would refuse
        note(f"{case.reference} cannot be sent to `tell`: {error}")


def _discarded(case: Case, operation: Operation, world: World, *, told: bool) -> str:
    def decide(current: Fields) -> Change:
        if current.get("state") != case.state:
            return Change(f"{current.get('state')} – skipped")
        if not told:
            return Change(NOT_TOLD)
        return Change(DISCARDED, {"state": DISCARDED, "data": None, "edits": []})

    return world.store.act(case.id, operation, decide).outcome
