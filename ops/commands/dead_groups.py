"""`dead groups`: the overview that one wants first."""

import json
from datetime import UTC, datetime

import typer
from rich.table import Table

from ops.console import note, one_line, say, show, table
from ops.durations import shown
from ops.groups import Group, grouped
from ops.options import AsJson
from ops.selection import Selection, selecting
from ops.world import World


@selecting
def dead_groups(context: typer.Context, selection: Selection, as_json: AsJson = False) -> None:
    """Group dead letters by cause: look here first.

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
        show(groups_table(groups))
        note(f"{sum(group.count for group in groups)} dead letters. One group: ops dead list --group ID")
    else:
        note(f"No dead letter is selected ({selection}).")


def groups_table(groups: list[Group]) -> Table:
    """The groups as a table; times are how long ago."""
    made = table("GROUP", ">COUNT", "STEP", "REASON", "CAUSE", ">FIRST", ">LAST", "EXAMPLE")
    for group in groups:
        case = group.example
        made.add_row(
            group.id,
            str(group.count),
            case.step or "–",
            case.reason,
            one_line(case.cause, 60),
            _ago(group.first_at),
            _ago(group.last_at),
            case.reference,
        )
    return made


def _ago(at: datetime | None) -> str:
    return shown(datetime.now(UTC) - at) if at else "–"
