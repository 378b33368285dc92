"""Output of the commands: plain lines that are readable with 80 columns and without colour."""

import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import track

from ops.case import Case
from ops.errors import Exit, OpsError

T = TypeVar("T")
#: For output that is redrawn in place. `say` prints plain lines.
console = Console(highlight=False, soft_wrap=True, emoji=False)
#: For progress and questions, on stderr: with --json, stdout must contain only JSON.
notes = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
LONGEST_ERROR = 100
#: Unicode categories of characters that control a terminal, reverse text, or stand for no character.
_CONTROLS = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def say(text: str = "") -> None:
    """Print text, with characters that would control the terminal escaped."""
    print(harmless(text))


def note(text: str) -> None:
    """Print a remark to stderr, beside the output."""
    notes.print(harmless(text), markup=False, soft_wrap=not notes.is_terminal)


def harmless(text: str) -> str:
    r"""Escape control characters as `\u001b`, except line ends and tabs. JSON stays the same JSON."""
    return text.translate(_HARMLESS)


class _Harmless(dict[int, str]):
    """The printed form of each character, computed when it is first needed."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        control = unicodedata.category(character) in _CONTROLS and character not in "\n\t"
        # As JSON escapes them; it leaves DEL as it is.
        self[code] = json.dumps(character)[1:-1].replace("\x7f", r"\u007f") if control else character
        return self[code]


_HARMLESS = _Harmless()


def one_line(text: str | None, most: int = LONGEST_ERROR) -> str:
    """A text on one line, cut if it is long. Control characters become `?`."""
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "?" for c in text or "").split())
    return line if len(line) <= most else line[: most - 1] + "…"


def shown(span: timedelta) -> str:
    """The length in its largest whole unit, such as `3 h`."""
    seconds = max(0, int(span.total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def summary(case: Case) -> Iterable[str]:
    """A case in a few lines."""
    yield (
        f"{one_line(case.reference):<11}  {one_line(case.step, 11) or '–':<11}  "
        f"{one_line(case.reason, 28):<28}  {shown(case.age):>6}  {one_line(case.status, 11)}"
    )
    yield f"    {one_line(case.error, 74) or '(no error is recorded)'}"
    yield (
        f"    attempts {case.attempts}, replays {case.replays}, {'told' if case.told else 'not told'}, "
        f"in {case.thread_shortened}"
    )
    yield f"    {case.question_id}"


def as_fields(case: Case) -> dict[str, Any]:
    """A case for --json, without its message."""
    fields = case.model_dump(mode="json", exclude={"data", "attributes", "actions", "edits"})
    return {
        **fields,
        "status": case.status,
        "group": case.group,
        "age_seconds": int(case.age.total_seconds()),
    }


def progressing(things: Sequence[T], doing: str) -> Iterable[T]:
    """Iterate over things and show a progress bar."""
    return track(things, doing, console=notes, transient=True)


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation. Raises OpsError when the person declines, or cannot be asked."""
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise OpsError(f"{question} Without a terminal, pass --yes to confirm.", Exit.DECLINED)
    try:
        meant = typer.confirm(question, err=True)
    except typer.Abort:  # Ctrl-C or Ctrl-D
        meant = False
    if not meant:
        raise OpsError("Nothing was done.", Exit.DECLINED)
