"""`dead watch`: live counts by group, for the minutes after a fix."""

import time
from collections import Counter
from datetime import timedelta
from typing import Annotated

import typer
from rich.live import Live
from rich.text import Text

from ops.commands.dead_groups import lines_of
from ops.console import console, harmless
from ops.durations import duration
from ops.groups import grouped
from ops.selection import Selection
from ops.world import World


def dead_watch(
    context: typer.Context,
    every: Annotated[
        timedelta, typer.Option(parser=duration, metavar="SPAN", help="How often to look.")
    ] = timedelta(seconds=5),
    length: Annotated[
        timedelta | None, typer.Option("--for", parser=duration, metavar="SPAN", help="Stop after this time.")
    ] = None,
) -> None:
    """Watch the counts by group, live.

    For the minutes after a fix; until Ctrl-C.

    \b
    Examples:
      python -m ops dead watch
      python -m ops dead watch --every 10s --for 15m
    """
    world: World = context.obj
    until = time.monotonic() + length.total_seconds() if length else None
    with Live(console=console, auto_refresh=False) as live:
        while True:
            view = _view(world)
            live.update(view, refresh=console.is_terminal)
            if not console.is_terminal:  # Live prints its last view alone
                console.print(view)
            left = until - time.monotonic() if until else every.total_seconds()
            if left <= 0:
                return
            time.sleep(min(left, every.total_seconds()))


def _view(world: World) -> Text:
    cases = world.store.select(Selection(state="any"))
    counts = Counter(case.status for case in cases)
    total = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no dead letters"
    groups = grouped(filter(Selection().takes, cases))
    lines = [f"{time.strftime('%H:%M:%S')}  {total}", *lines_of(groups)]
    return Text(harmless("\n".join(lines)))
