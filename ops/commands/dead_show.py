"""`dead show`: everything that is known about one dead letter."""

import json
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import typer

from ops.case import Case
from ops.console import one_line, say, shown
from ops.detail import Stop, failures_of, in_full, readable, way_of
from ops.options import AsJson, WithText
from ops.world import World
from shared.memory.cases import NO_RECORD
from shared.memory.firestore import Fields

#: A dead letter is stored some seconds after its step has logged the reason.
LOGS_LATER = timedelta(minutes=1)
_RFC3339 = "%Y-%m-%dT%H:%M:%SZ"


def dead_show(
    context: typer.Context,
    name: str = typer.Argument(metavar="ID", help="A reference (TW-…), question id or case id."),
    with_text: WithText = False,
    as_json: AsJson = False,
) -> None:
    """Show everything about one dead letter.

    Questions and answers are only shown with --with-text.

    \b
    Example:
      python -m ops dead show TW-1A2B3C4D
    """
    world: World = context.obj
    case = world.store.find(name)
    failures = failures_of(case, world)
    if as_json:
        say(
            json.dumps(
                in_full(case, failures, with_text=with_text), ensure_ascii=False, indent=1, default=str
            )
        )
        return
    for line in _lines(case, failures, world, with_text):
        say(line)


def _lines(case: Case, failures: list[Fields], world: World, with_text: bool) -> Iterator[str]:
    yield f"{case.reference}  {case.status}  (case {case.id})"
    yield ""
    yield f"question   {case.question_id}"
    yield f"thread     {case.thread or case.space or '–'}"
    yield f"asked      {_time(case.asked_at)}"
    yield f"failed     {_time(case.first_at)}, last {_time(case.last_at)}"
    yield f"in step    {case.step or '(unknown)'}, sent by {case.sender or '(unknown)'}"
    yield f"reason     {case.reason}"
    yield f"error      {one_line(case.error, 300) or '–'}"
    yield f"attempts   {case.attempts}, copies of the dead letter {case.copies}"
    yield f"asker      {'has been told' if case.told else 'has NOT been told'}"
    yield f"replays    {case.replays}, came back {case.returned}"
    yield f"answered   {_time(case.answered_at)}"
    yield ""
    yield "Its path"
    yield from (f"  {_stop(stop)}" for stop in way_of(case, failures))
    yield ""
    yield from _why(case, failures, world)
    yield ""
    yield f"The message ({case.bytes} bytes)" + ("" if with_text else "; --with-text shows its text")
    yield from (f"  {line}" for line in readable(case.data, with_text=with_text).splitlines())
    yield "Its attributes"
    yield from (f"  {name}: {value}" for name, value in sorted(case.attributes.items()))
    for edit in case.edits:
        yield ""
        yield f"Edited {_time(edit.at)} by {edit.by}. Before that it was:"
        yield from (f"  {line}" for line in readable(edit.before, with_text=with_text).splitlines())
    if case.actions:
        yield ""
        yield "What operators did"
        yield from (
            f"  {_time(each.at)}  {each.by}  {each.action} → {each.outcome}  ({each.operation})"
            for each in case.actions
        )


def _why(case: Case, failures: list[Fields], world: World) -> Iterator[str]:
    for record in failures:
        yield (
            f"Failed in {record.get('step')}: {record.get('error')} ({record.get('count')} times, "
            f"first {_time(record.get('first_at'))}, last {_time(record.get('last_at'))})"
        )
        stack = record.get("stack")
        yield from (f"  {frame}" for frame in (stack if isinstance(stack, list) else []))
    if case.reason == NO_RECORD and case.step not in {record.get("step") for record in failures}:
        yield (
            f"No failure record: the process died in step {case.step or '(unknown)'} after "
            f"{case.attempts or 'some'} deliveries (killed, out of memory or out of time)."
        )
    yield "Its log:"
    yield f"  {log_query(case, world)}"


def log_query(case: Case, world: World) -> str:
    """A command that prints the log lines of the functions, and of Cloud Run itself, about a case."""
    since = (case.asked_at or case.first_at or datetime.now(UTC)).astimezone(UTC)
    until = (case.last_at or datetime.now(UTC)).astimezone(UTC) + LOGS_LATER
    wanted = f"jsonPayload.question={_quoted(case.question_id)}"
    if case.step:  # a killed process logs nothing; Cloud Run's own line lacks our fields
        killed = f"severity>=ERROR AND resource.labels.service_name:{_quoted(case.step)}"
        wanted = f"({wanted} OR ({killed}))"
    query = (
        f'resource.type="cloud_run_revision" AND {wanted} AND '
        f'timestamp>="{since:{_RFC3339}}" AND timestamp<="{until:{_RFC3339}}"'
    )
    project = shlex.quote(world.settings.google_cloud_project)
    return f"gcloud logging read {shlex.quote(query)} --project {project} --order asc"


def _quoted(text: str) -> str:
    """A string in Cloud Logging's query language."""
    return json.dumps(text)


def _stop(stop: Stop) -> str:
    took = f" after {stop.seconds:.1f} s" if stop.seconds is not None else ""
    return f"{_time(stop.at)}  {stop.step:<11}  {stop.what}{took}"


def _time(at: object) -> str:
    if not isinstance(at, datetime):
        return "–"
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC ({shown(datetime.now(UTC) - at)} ago)"
