"""`feedback export`: write ratings to a file."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from ops.console import note
from ops.errors import Exit, OpsError
from ops.options import WithText
from ops.ratings import AsNewer, AsPlace, AsReason, AsVerdict, Wanted, as_json, ratings
from ops.world import World


def feedback_export(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file. It gets one line per rating.")],
    verdict: AsVerdict = None,
    reason: AsReason = None,
    place: AsPlace = None,
    newer: AsNewer = None,
    with_text: WithText = False,
) -> None:
    """Write ratings to a file as JSON lines. Only you can read it.

    \b
    Example:
      python -m ops feedback export down.jsonl --verdict down --with-text
    """
    world: World = context.obj
    found = ratings(world.firestore, Wanted(verdict, reason, place, newer))
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise OpsError(f"{file} cannot be written: {error.strerror}.", Exit.INVALID) from None
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as lines:
        for each in found:
            lines.write(json.dumps(as_json(each, with_text=with_text), ensure_ascii=False) + "\n")
    private = ". It contains private text: keep it safe" if with_text else ""
    note(f"Wrote {len(found)} ratings to {file}{private}.")
