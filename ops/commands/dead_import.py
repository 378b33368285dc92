"""`dead import`: put exported cases back into the store."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ops import export_file
from ops.audit import new_operation
from ops.console import confirm, note, one_line, progressing
from ops.errors import Exit
from ops.options import Note, Yes
from ops.world import World
from shared.runtime.errors import Permanent


def dead_import(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file from `dead export` or `dead discard`.")
    ],
    why: Note = "",
    yes: Yes = False,
) -> None:
    """Bring exported dead letters back.

    Dead letters that are already there stay unchanged.

    \b
    Example:
      python -m ops dead import incident.jsonl
    """
    world: World = context.obj
    cases = list(export_file.read(file))
    confirm(f"Import {len(cases)} dead letters from {file}?", yes=yes or len(cases) < 2)
    operation = new_operation("import", world.settings.operator, why)
    world.audit.begin(operation, str(file))
    counts: Counter[str] = Counter()
    for case_id, fields in progressing(cases, "import"):
        try:
            counts[world.store.bring_back(case_id, fields, operation)] += 1
        except (Permanent, ValueError) as error:  # Firestore or its client cannot store this one
            counts["refused"] += 1
            note(f"{one_line(case_id)} was refused: {error}")
    world.audit.finish(operation, counts)
    note(", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "The file is empty.")
    if counts["refused"]:
        raise typer.Exit(Exit.FAILED)
