"""`dead groups`: the overview to look at first."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import typer

from ops.case import Group, grouped
from ops.console import note, one_line, say, shown
from ops.options import AsJson
from ops.selection import Selection, selecting
from ops.world import World


@selecting
def dead_groups(context: typer.Context, selection: Selection, as_json: AsJson = False) -> None:
    """Group dead letters by cause. Start here.

    \b
    Examples:
      python -m ops dead groups
      python -m ops dead groups --newer 1h
    """
    world: World = context.obj
    groups = grouped(world.store.select(selection))
    if as_json:
        say(json.dumps([group.as_fields() for group in groups], ensure_ascii=False, indent=1))
    elif groups:
        for line in lines_of(groups):
            say(line)
        total = sum(group.count for group in groups)
        note(f"{total} dead letters. To list a group: python -m ops dead list --group ID")
    else:
        note(f"No dead letters match ({selection}) in {world.where}.")


def lines_of(groups: list[Group]) -> Iterator[str]:
    """Three lines for each group. Times are ages."""
    for group in groups:
        case = group.example
        yield f"{group.id}  {group.count:>6} × {one_line(case.step, 11) or '–'}  {one_line(case.reason, 40)}"
        yield f"          {one_line(case.cause, 70) if case.error else '(no error is recorded)'}"
        yield (
            f"          first {_ago(group.first_at)} ago, last {_ago(group.last_at)} ago; "
            f"for example {case.reference}"
        )


def _ago(at: datetime | None) -> str:
    return shown(datetime.now(UTC) - at) if at else "–"
