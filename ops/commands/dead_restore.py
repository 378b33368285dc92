"""`dead restore`: bring archived dead letters back."""

from dataclasses import replace

import typer

from ops.commands.dead_archive import move
from ops.options import Note, Yes
from ops.selection import Selection, selecting
from shared.cases import ARCHIVED, OPEN


@selecting
def dead_restore(context: typer.Context, selection: Selection, why: Note = "", yes: Yes = False) -> None:
    """Bring archived dead letters back.

    \b
    Example:
      python -m ops dead restore TW-1A2B3C4D
    """
    archived = replace(selection, state=ARCHIVED)
    move(context.obj, archived, "restore", ARCHIVED, OPEN, why, yes=yes)
