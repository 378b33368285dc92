"""Lengths of time as people write and read them: `90s`, `30m`, `24h`, `7d`."""

import re
from datetime import timedelta

import typer

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def duration(text: str | timedelta) -> timedelta:
    """Parse a length of time. Raises typer.BadParameter, which Typer shows."""
    if isinstance(text, timedelta):
        return text
    match = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)\s*([smhd])", text.strip())
    if not match:
        raise typer.BadParameter(f"{text!r} is not a length of time. Write it like 90s, 30m, 24h or 7d")
    return timedelta(**{_UNITS[match[2]]: float(match[1])})


def shown(span: timedelta) -> str:
    """The length in its largest whole unit, such as `3 h`."""
    seconds = max(0, int(span.total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
