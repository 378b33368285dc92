"""`dead edit`: replay a corrected envelope."""

import difflib
import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ops.audit import Operation, new_operation
from ops.case import Case
from ops.console import confirm, note, say
from ops.envelopes import without_text
from ops.errors import Exit, OpsError
from ops.options import Note, WithText, Yes
from ops.replay import Order, Outcome, replay
from ops.store import Change
from ops.world import World
from shared.cases import OPEN
from shared.envelope import Envelope
from shared.errors import StepError
from shared.firestore import Fields

#: What a question is known by, and where its answer goes: another question's would be answered instead.
FIXED = (
    "question.id",
    "question.conversation",
    "question.space",
    "question.thread",
    "question.person",
    "trace",
)
#: Earlier envelopes that a case keeps.
MOST_EDITS = 5


def dead_edit(
    context: typer.Context,
    name: str = typer.Argument(metavar="ID", help="A reference (TW-…), question id or case id."),
    assignments: Annotated[
        list[str], typer.Option("--set", metavar="FIELD=VALUE", help="A field and its new value; repeatable.")
    ] = [],  # noqa: B006 - Typer's way to say: none
    with_text: WithText = False,
    why: Note = "",
    yes: Yes = False,
) -> None:
    """Correct a dead letter and replay it.

    The change is shown and checked first; what it was before is kept with the case.

    \b
    Examples:
      python -m ops dead edit TW-1A2B3C4D --set question.language=en
      python -m ops dead edit TW-1A2B3C4D --set search_query="How do I configure the VPN?"
    """
    world: World = context.obj
    case = world.store.find(name)
    before = _opened(case)
    after = edited(before, assignments)
    corrected = _validated(after)
    for line in _diff(before, after, with_text=with_text):
        say(line)
    confirm(f"Replay {case.reference} with this change?", yes=yes)
    operation = new_operation("edit", world.settings.operator, why)
    world.audit.begin(operation, f"{case.reference} {', '.join(each.split('=')[0] for each in assignments)}")
    result = _replay_edited(case, corrected, operation, world)
    world.audit.finish(operation, {result: 1})
    note(f"{case.reference} {result}. Audit: python -m ops audit {operation.name}")
    if result != Outcome.REPLAYED:
        raise typer.Exit(Exit.FAILED)


def edited(envelope: Fields, assignments: list[str]) -> Fields:
    """The envelope with `field.subfield=value` set; values are JSON, or else text. Raises OpsError."""
    if not assignments:
        raise OpsError("Change what? --set FIELD=VALUE, such as --set question.language=en", Exit.INVALID)
    changed: Fields = json.loads(json.dumps(envelope))
    for assignment in assignments:
        path, given, value = assignment.partition("=")
        if not given:
            raise OpsError(f"{assignment!r} has no `=`: --set FIELD=VALUE", Exit.INVALID)
        if path in FIXED:
            raise OpsError(f"{path} cannot be changed: the answer would go somewhere else.", Exit.INVALID)
        _assign(changed, path.split("."), _value(value))
    return changed


def _assign(target: Any, path: list[str], value: Any) -> None:
    *parents, last = path
    for part in parents:
        target = target.get(part) if isinstance(target, dict) else None
    if not isinstance(target, dict):
        raise OpsError(f"The envelope has no {'.'.join(parents)} to set {last} in.", Exit.INVALID)
    target[last] = value


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _opened(case: Case) -> Fields:
    try:
        envelope = json.loads(case.data if isinstance(case.data, bytes) else b"")
    except (ValueError, RecursionError):
        envelope = None
    if not isinstance(envelope, dict):
        raise OpsError(f"{case.reference} holds no JSON object, so it has no fields to set.", Exit.INVALID)
    return envelope


def _validated(envelope: Fields) -> bytes:
    try:
        return Envelope.from_bytes(json.dumps(envelope).encode()).to_bytes()
    except StepError as error:
        raise OpsError(
            f"The changed envelope would not be accepted: {error}. Nothing was done.", Exit.INVALID
        ) from None


def _diff(before: Fields, after: Fields, *, with_text: bool) -> list[str]:
    old, new = (
        json.dumps(each, ensure_ascii=False, indent=2, sort_keys=True).splitlines()
        for each in ((before, after) if with_text else (without_text(before), without_text(after)))
    )
    lines = list(difflib.unified_diff(old, new, "was", "will be", n=1, lineterm=""))
    return lines or ["(the change is in a text: --with-text shows it)" if before != after else "(no change)"]


def _replay_edited(case: Case, corrected: bytes, operation: Operation, world: World) -> str:
    def decide(current: Fields) -> Change:
        if current.get("state") != OPEN:
            return Change(f"{current.get('state')} – skipped")
        kept = current.get("edits")
        edit = {
            "at": datetime.now(UTC),
            "by": operation.by,
            "before": current.get("data"),
            "after": corrected,
        }
        edits = [*(kept if isinstance(kept, list) else []), edit][-MOST_EDITS:]
        return Change("edited", {"data": corrected, "bytes": len(corrected), "edits": edits})

    change = world.store.act(case.id, operation, decide)
    if change.fields is None:
        return change.outcome
    order = Order(operation, even_stale=True)
    return str(replay(case.id, order, world).outcome)
