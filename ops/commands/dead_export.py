"""`dead export`: write cases to a file."""

from pathlib import Path
from typing import Annotated

import typer

from ops import export_file
from ops.console import note
from ops.selection import Selection, selecting
from ops.world import World


@selecting
def dead_export(
    context: typer.Context,
    selection: Selection,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file. It gets one line per case.")],
) -> None:
    """Write dead letters to a file.

    The file contains private text. Only you can read it.

    \b
    Example:
      python -m ops dead export incident.jsonl --group 1f2e3d --state any
    """
    world: World = context.obj
    cases = world.store.chosen(selection)
    written = export_file.write(file, world.store.whole([case.id for case in cases]))
    note(f"Wrote {written} dead letters to {file}. It contains private text: keep it safe.")
