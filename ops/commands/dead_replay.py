"""`dead replay`: send dead letters to the failed step again."""

import json
from collections import Counter
from dataclasses import replace
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ops.audit import new_operation
from ops.bulk_replay import ANSWERED, RETURNED, Ends, Run, canary
from ops.case import Case
from ops.console import confirm, note, notes, say
from ops.errors import Exit, OpsError
from ops.options import AsJson, Note, Yes
from ops.replay import Order, Outcome, Result, outlooks
from ops.selection import Selection, selecting
from ops.world import World
from shared.memory.cases import OPEN, REPLAYED
from shared.pipeline import pipeline

SENDABLE = {OPEN, REPLAYED}


def _step(name: str) -> str:
    """A step at which a question can start again: any step but the first, which takes events from Chat."""
    names = [step.name for step in pipeline().steps[1:]]
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
    return name


@selecting
def dead_replay(
    context: typer.Context,
    selection: Selection,
    every: Annotated[bool, typer.Option("--all", help="Replay all open dead letters.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Replay only this many, the oldest first, as a trial.")
    ] = None,
    rate: Annotated[float, typer.Option(min=0.01, max=1000, help="Maximum messages per second.")] = 10.0,
    restart: Annotated[
        str | None,
        typer.Option(
            "--from", parser=_step, metavar="STEP", help="Restart at this step, for example after an import."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")
    ] = False,
    stop_at: Annotated[
        float,
        typer.Option(min=0, max=1, help="Stop when more than this share of the finished ones came back."),
    ] = 0.2,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for the answers at the end.")] = 60.0,
    include_stale: Annotated[bool, typer.Option("--include-stale", help="Include old questions.")] = False,
    include_answered: Annotated[
        bool,
        typer.Option("--include-answered", help="Include answered questions, and write their answers again."),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(help="Name of this replay: letters, digits and hyphens. Example: incident-42."),
    ] = None,
    why: Note = "",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send dead letters again.

    Questions that have been answered meanwhile, or are too old, are skipped. After an interruption, run the
    same command again: it continues where it stopped.

    \b
    Examples:
      python -m ops dead replay TW-1A2B3C4D
      python -m ops dead replay --group 1f2e3d --limit 5
      python -m ops dead replay --all --dry-run
      python -m ops dead replay --step answer --rate 5 --reason "quota raised"
      python -m ops dead replay --group 1f2e3d --from retrieve
    """
    world: World = context.obj
    if every and selection.ids:
        raise OpsError("Give either --all or IDs, not both. Nothing was done.", Exit.INVALID)
    if not (every or selection.narrow):
        raise OpsError("Which ones? Give IDs, a filter, or --all. Nothing was done.", Exit.INVALID)
    cases = _cases(selection, world, limit, stale=include_stale, answered=include_answered)
    operation = new_operation("replay", world.settings.operator, why, _checked(name))
    order = Order(operation, restart, include_stale, include_answered)
    if dry_run:
        _preview(cases, order, world, as_json)
        return
    if not cases and not as_json:
        note(f"No dead letters match ({selection}) in {world.where}.")
        return
    if len(cases) > 1:
        confirm(f"Replay {len(cases)} dead letters ({selection})?", yes=yes)
    run = _run(cases, order, world, rate, stop_at, wait, str(selection))
    _report(run, len(cases), as_json)
    if run.broken:
        raise run.broken
    if run.stopped:
        raise typer.Exit(Exit.STOPPED)
    if any(result.outcome is Outcome.FAILED for result in run.results):
        raise typer.Exit(Exit.FAILED)


def _cases(
    selection: Selection, world: World, limit: int | None, *, stale: bool, answered: bool
) -> list[Case]:
    """The cases to replay, the oldest first. Cases that are too old to replay do not count for `limit`."""
    if selection.ids and selection.state == OPEN:  # run again, the same command names what is answered by now
        found = world.store.chosen(replace(selection, state="any"))
    elif answered and selection.state == OPEN:
        found = world.store.chosen(replace(selection, state="any"))
        found = [
            case for case in found if case.status == OPEN or (case.answered_at and case.state in SENDABLE)
        ]
    else:
        found = world.store.chosen(selection)
    oldest_first = list(reversed(found))
    return oldest_first if limit is None else canary(oldest_first, limit, world, stale=stale)


def _checked(name: str | None) -> str | None:
    if name is not None and not (len(name) <= 60 and name.replace("-", "").isalnum() and name.isascii()):
        raise OpsError("--name may have letters, digits and hyphens, at most 60.", Exit.INVALID)
    return name


def _preview(cases: list[Case], order: Order, world: World, as_json: bool) -> None:
    expected = outlooks(cases, order, world)
    if as_json:
        say(json.dumps([_fields(result, "") for result in expected], ensure_ascii=False, indent=1))
        return
    for result in expected:
        detail = f" ({result.detail})" if result.detail else ""
        say(f"{result.case.reference}  {result.case.step or '–':<11}  expected: {result.outcome}{detail}")
    note(f"Expected result: {_summed(expected)}. Nothing was done (--dry-run).")


def _run(
    cases: list[Case], order: Order, world: World, rate: float, stop_at: float, wait: float, selected: str
) -> Run:
    world.audit.begin(order.operation, selected)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[ends]}"),
        console=notes,
    ) as progress:
        bar = progress.add_task("replaying", total=len(cases), ends="")
        run = Run(
            world,
            order,
            rate,
            Ends(world, stop_at),
            on_result=lambda _: progress.advance(bar),
            on_look=lambda ends: progress.update(bar, ends=_so_far(ends)),
        )
        run.send(cases)
        progress.update(bar, description="waiting for the answers")
        run.follow(wait)
    world.audit.finish(order.operation, run.outcomes)
    return run


def _so_far(ends: Ends) -> str:
    return f"{ends.counts[ANSWERED]} answered, {ends.counts[RETURNED]} came back"


def _report(run: Run, total: int, as_json: bool) -> None:
    ends = run.ends
    if as_json:
        fields = [_fields(result, ends.of(result.case)) for result in run.results]
        say(
            json.dumps(
                {"operation": run.order.operation.name, "stopped": run.stopped, "messages": fields},
                ensure_ascii=False,
                indent=1,
            )
        )
        return
    for result in run.results:
        end, detail = ends.of(result.case), f" ({result.detail})" if result.detail else ""
        say(f"{result.case.reference}  {result.outcome}{f', {end}' if end else ''}{detail}")
    note(f"{_summed(run.results)}. Of those replayed: {_so_far(ends)}, {len(ends.under_way)} under way.")
    if run.stopped:
        left = total - len(run.results)
        unsent = f"; {left} were not sent" if left else ""
        note(
            f"STOPPED: too many came back{unsent}. "
            "Look at `python -m ops dead groups`, fix the cause, and run the same command again."
        )
    note(f"Audit: python -m ops audit {run.order.operation.name}")


def _summed(results: list[Result]) -> str:
    counts = Counter(str(result.outcome) for result in results)
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "Nothing to do"


def _fields(result: Result, end: str) -> dict[str, str]:
    case = result.case
    return {
        "reference": case.reference,
        "question_id": case.question_id,
        "outcome": str(result.outcome),
        "end": end,
        "detail": result.detail,
    }
