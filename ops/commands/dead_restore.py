"""`dead restore`: bring archived dead letters back."""

from dataclasses import replace

import typer

from ops.commands.dead_archive import move
from ops.options import Note, Yes
from ops.selection import Selection, selecting
from shared.memory.cases import ARCHIVED, OPEN, REPLAYED


@selecting
def dead_restore(context: typer.Context, selection: Selection, why: Note = "", yes: Yes = False) -> None:
    """Bring archived dead letters back.

    With --state replayed, reopen dead letters whose replay was lost, for example in a topic without a
    subscription.

    \b
    Examples:
      python -m ops dead restore TW-1A2B3C4D
      python -m ops dead restore --state replayed --older 1h
    """
    before = REPLAYED if selection.state == REPLAYED else ARCHIVED
    move(context.obj, replace(selection, state=before), "restore", before, OPEN, why, yes=yes)
