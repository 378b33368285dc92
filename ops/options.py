"""Options that several commands share."""

import re
from datetime import timedelta
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Note = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why you do this. It is kept in the audit.")
]
WithText = Annotated[
    bool, typer.Option("--with-text", help="Also show questions and answers. They are private.")
]
AsLocation = Annotated[
    str | None,
    typer.Option(
        "--location",
        metavar="REGION",
        help="Region of the corpus. Default: RAG_LOCATION.",
        show_default=False,
    ),
]
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def duration(text: str | timedelta) -> timedelta:
    """Parse a length of time. Raises typer.BadParameter, which Typer shows."""
    if isinstance(text, timedelta):
        return text
    match = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)\s*([smhd])", text.strip())
    if not match:
        raise typer.BadParameter(f"{text!r} is not a length of time. Write it like 90s, 30m, 24h or 7d")
    return timedelta(**{_UNITS[match[2]]: float(match[1])})
