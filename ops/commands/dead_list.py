"""`dead list`: list the cases, the latest first."""

import json
from typing import Annotated

import typer

from ops.case import Case
from ops.console import as_fields, note, say, summary
from ops.options import AsJson
from ops.selection import Selection, selecting
from ops.world import World


@selecting
def dead_list(
    context: typer.Context,
    selection: Selection,
    limit: Annotated[int, typer.Option(min=1, help="Cases per page.")] = 20,
    page: Annotated[int, typer.Option(min=1, help="Page number.")] = 1,
    as_json: AsJson = False,
) -> None:
    """List dead letters, the latest first.

    \b
    Examples:
      python -m ops dead list --step answer --newer 2h
      python -m ops dead list --group 1f2e3d --json
    """
    world: World = context.obj
    cases = world.store.chosen(selection) if selection.ids else world.store.select(selection)
    shown = cases[(page - 1) * limit : page * limit]
    if as_json:
        say(json.dumps([as_fields(case) for case in shown], ensure_ascii=False, indent=1))
        return
    for case in shown:
        for line in summary(case):
            say(line)
    _footer(cases, page, limit, selection, world.where)


def _footer(listed: list[Case], page: int, limit: int, selection: Selection, where: str) -> None:
    first, last = (page - 1) * limit + 1, min(page * limit, len(listed))
    if not listed:
        note(f"No dead letters match ({selection}) in {where}.")
    elif first > len(listed):
        note(f"The last page is {-(-len(listed) // limit)}.")
    elif last < len(listed) or page > 1:
        more = f"; --page {page + 1} shows more" if last < len(listed) else ""
        note(f"{first}–{last} of {len(listed)}{more}")
