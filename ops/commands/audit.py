"""`audit`: what operators did, when, to which messages, why, and with which outcome."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ops.audit import counted
from ops.console import note, one_line, say
from ops.errors import Exit, OpsError
from ops.options import AsJson
from ops.world import World


def audit(
    context: typer.Context,
    operation: Annotated[
        str | None, typer.Argument(help="Show the messages of this operation.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many operations to show, the latest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show who did what, when and why.

    \b
    Examples:
      python -m ops audit
      python -m ops audit replay-20261130-0301-9f2c
    """
    world: World = context.obj
    if operation:
        _one(operation, world, as_json)
        return
    operations = list(world.audit.latest(limit))
    if as_json:
        say(json.dumps(operations, ensure_ascii=False, indent=1, default=str))
        return
    for each in operations:
        if not each.get("finished_at"):  # count the entries that there are
            each["counts"] = dict(counted(world.audit.of(str(each.get("name")))[1]))
        for line in _lines(each):
            say(line)
    if not operations:
        note("No operations are recorded yet.")


def _one(name: str, world: World, as_json: bool) -> None:
    operation, entries = world.audit.of(name)
    if operation is None:
        raise OpsError(f"There is no operation {name}. `python -m ops audit` lists them.", Exit.NOT_FOUND)
    if as_json:
        say(json.dumps({**operation, "messages": entries}, ensure_ascii=False, indent=1, default=str))
        return
    for line in _lines({**operation, "counts": operation.get("counts") or dict(counted(entries))}):
        say(line)
    for each in sorted(entries, key=lambda fields: str(fields.get("at"))):
        detail = f"  ({one_line(each['detail'])})" if each.get("detail") else ""
        say(f"    {_time(each.get('at'))}  {each.get('reference')}  {each.get('outcome')}{detail}")


def _lines(operation: dict[str, Any]) -> list[str]:
    counts = operation.get("counts") or {}
    ended = "finished" if operation.get("finished_at") else "not finished: interrupted, or still running"
    done = (
        ", ".join(f"{counts[outcome]} {outcome}" for outcome in sorted(counts, key=_outcomes_first))
        or "no messages"
    )
    lines = [
        f"{_time(operation.get('at'))}  {operation.get('name')}  by {operation.get('by')}",
        f"    {done}; {ended}",
    ]
    if operation.get("selection"):
        lines.append(f"    selected: {one_line(str(operation['selection']))}")
    if operation.get("note"):
        lines.append(f"    reason: {one_line(str(operation['note']))}")
    return lines


def _outcomes_first(outcome: str) -> tuple[bool, str]:
    """Sort outcomes before the ends of replayed questions. Firestore keeps no order in a map."""
    return outcome.startswith("of them "), outcome


def _time(at: object) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}" if isinstance(at, datetime) else "–"
