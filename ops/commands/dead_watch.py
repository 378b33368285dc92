"""`dead watch`: live counts by group, for the minutes after a fix."""

import math
import time
from collections import Counter
from contextlib import nullcontext
from datetime import timedelta
from typing import Annotated

import typer
from google.api_core.exceptions import GoogleAPICallError
from rich.live import Live
from rich.text import Text

from ops.case import grouped
from ops.commands.dead_groups import lines_of
from ops.console import console, harmless
from ops.errors import explained
from ops.options import duration
from ops.selection import Selection
from ops.world import World

#: Shortest pause between two looks, in seconds. Each look reads all cases.
LEAST_PAUSE = 1.0


def dead_watch(
    context: typer.Context,
    every: Annotated[
        timedelta, typer.Option(parser=duration, metavar="SPAN", help="Time between two looks.")
    ] = timedelta(seconds=5),
    length: Annotated[
        timedelta | None, typer.Option("--for", parser=duration, metavar="SPAN", help="Stop after this time.")
    ] = None,
) -> None:
    """Watch the counts by group, live.

    Useful in the minutes after a fix. Stop it with Ctrl-C.

    \b
    Examples:
      python -m ops dead watch
      python -m ops dead watch --every 10s --for 15m
    """
    world: World = context.obj
    pause = max(every.total_seconds(), LEAST_PAUSE)
    until = time.monotonic() + (math.inf if length is None else length.total_seconds())
    view: Text | None = None
    with Live(console=console, auto_refresh=False) if console.is_terminal else nullcontext() as live:
        while True:
            try:
                view = _view(world)
            except GoogleAPICallError as error:
                if view is None:
                    raise
                view = Text(harmless(f"{time.strftime('%H:%M:%S')}  {explained(error, world.where)}"))
            if live is None:  # a file or a pipe: one view after the other
                console.print(view)
            else:
                live.update(view, refresh=True)
            left = until - time.monotonic()
            if left <= 0:
                return
            try:
                time.sleep(min(left, pause))
            except KeyboardInterrupt:  # how it ends
                return


def _view(world: World) -> Text:
    cases = world.store.select(Selection(state="any"))
    counts = Counter(case.status for case in cases)
    total = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no dead letters"
    groups = grouped(filter(Selection().takes, cases))
    lines = [f"{time.strftime('%H:%M:%S')}  {total}", *lines_of(groups)]
    return Text(harmless("\n".join(lines)))
