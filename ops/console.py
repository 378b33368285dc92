"""What the commands print with: plain lines that read well at 80 columns and without colour."""

import sys
from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console

from ops.case import Case
from ops.durations import shown
from ops.errors import Exit, OpsError

console = Console(highlight=False, soft_wrap=True)
#: Progress and questions: what is printed with --json must be JSON alone.
notes = Console(stderr=True, highlight=False, soft_wrap=True)
LONGEST_ERROR = 100


def say(text: str = "", style: str | None = None) -> None:
    """Print a line as it is."""
    console.print(text, style=style, markup=False)


def note(text: str) -> None:
    """Tell the person something beside the output."""
    notes.print(text, markup=False)


def one_line(text: str | None, most: int = LONGEST_ERROR) -> str:
    """A text in one line, cut if it is long; control characters would drive the terminal."""
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "?" for c in text or "").split())
    return line if len(line) <= most else line[: most - 1] + "…"


def summary(case: Case) -> Iterable[str]:
    """A case in a few lines."""
    yield (
        f"{case.reference or '–':<11}  {case.step or '–':<11}  {case.reason:<24}  "
        f"{shown(case.age):>6}  {case.status}"
    )
    yield f"    {one_line(case.error, 74) or '(no error is recorded)'}"
    yield (
        f"    attempts {case.attempts}, replays {case.replays}, {'told' if case.told else 'not told'}, "
        f"in {case.thread_shortened}"
    )
    yield f"    {case.question_id}"


def as_fields(case: Case) -> dict[str, Any]:
    """A case for --json: without its message."""
    fields = case.model_dump(mode="json", exclude={"data", "attributes", "actions"})
    return {
        **fields,
        "status": case.status,
        "group": case.group,
        "age_seconds": int(case.age.total_seconds()),
    }


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something is done. Raises OpsError when the person declines, or cannot be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise OpsError(f"{question} Nobody can be asked here: pass --yes if you mean it.", Exit.DECLINED)
    if not typer.confirm(question, err=True):
        raise OpsError("Nothing was done.", Exit.DECLINED)
