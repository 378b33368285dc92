"""`dead edit`: correct an envelope and replay it."""

import difflib
import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ops.audit import new_operation
from ops.case import Case
from ops.changes import Change
from ops.console import confirm, note, say
from ops.detail import without_text
from ops.errors import Exit, OpsError
from ops.options import Note, WithText, Yes
from ops.replay import Order, Outcome, outlook, replay
from ops.world import World
from shared.language.catalogue import languages
from shared.memory.cases import MOST_BYTES, OPEN
from shared.memory.firestore import Fields
from shared.messages.envelope import Envelope
from shared.runtime.errors import StepError

#: Fields that identify the question and its place. A change would answer another question.
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
        list[str],
        typer.Option("--set", metavar="FIELD=VALUE", help="Set a field to a new value. Repeatable."),
    ] = [],  # noqa: B006 - Typer's way to say: none
    with_text: WithText = False,
    why: Note = "",
    yes: Yes = False,
) -> None:
    """Correct a dead letter and replay it.

    The change is shown and checked first. The earlier version is kept with the case.

    \b
    Examples:
      python -m ops dead edit TW-1A2B3C4D --set question.language=en
      python -m ops dead edit TW-1A2B3C4D --set search_query="VPN on a Mac"
    """
    world: World = context.obj
    case = world.store.find(name)
    order = Order(new_operation("edit", world.settings.operator, why), even_stale=True)
    if (expected := outlook(case, order, world).outcome) not in {Outcome.REPLAYED, Outcome.FAILED}:
        raise OpsError(f"{case.reference}: {expected}. Nothing was done.", Exit.NOT_FOUND)
    before = _opened(case)
    after = edited(before, assignments)
    corrected = _validated(after)
    for line in _diff(before, after, with_text=with_text):
        say(line)
    if case.bytes + 2 * len(corrected) > MOST_BYTES:
        raise OpsError(
            f"{case.reference} is too large: the earlier version could not be kept as well.", Exit.INVALID
        )
    confirm(f"Replay {case.reference} with this change?", yes=yes)
    fields = ", ".join(each.split("=")[0] for each in assignments)
    world.audit.begin(order.operation, f"{case.reference} {fields}")
    result = _replay_edited(case, corrected, order, world)
    world.audit.finish(order.operation, {result: 1})
    note(f"{case.reference} {result}. Audit: python -m ops audit {order.operation.name}")
    if result != Outcome.REPLAYED:
        raise typer.Exit(Exit.FAILED)


def edited(envelope: Fields, assignments: list[str]) -> Fields:
    """The envelope with `field.subfield=value` set. Values are JSON, otherwise text. Raises OpsError."""
    if not assignments:
        raise OpsError(
            "What should change? Use --set FIELD=VALUE, for example --set question.language=en", Exit.INVALID
        )
    changed: Fields = json.loads(json.dumps(envelope))
    for assignment in assignments:
        path, given, value = assignment.partition("=")
        if not given:
            raise OpsError(f"{assignment!r} has no `=`. Use --set FIELD=VALUE.", Exit.INVALID)
        _assign(changed, path.split("."), value)
    if moved := [path for path in FIXED if _at(path, changed) != _at(path, envelope)]:
        raise OpsError(
            f"{moved[0]} cannot be changed, because it decides which question is answered, and where.",
            Exit.INVALID,
        )
    if changed == envelope:
        raise OpsError("This changes nothing. Use `dead replay` to send the message unchanged.", Exit.INVALID)
    return changed


def _at(path: str, envelope: Any) -> Any:
    for part in path.split("."):
        envelope = envelope.get(part) if isinstance(envelope, dict) else None
    return envelope


def _assign(target: Any, path: list[str], text: str) -> None:
    *parents, last = path
    for part in parents:
        target = target.get(part) if isinstance(target, dict) else None
    if not isinstance(target, dict):
        raise OpsError(f"The envelope has no {'.'.join(parents)} in which {last} could be set.", Exit.INVALID)
    target[last] = _value(text, target.get(last))


def _value(text: str, current: Any) -> Any:
    """Read JSON, otherwise text. A text stays a text: 2026 can be a search query."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(current, str) and not isinstance(value, str) else value


def _opened(case: Case) -> Fields:
    try:
        envelope = json.loads(case.data if isinstance(case.data, bytes) else b"")
    except (ValueError, RecursionError):
        envelope = None
    if case.data is None:
        raise OpsError(
            f"The message of {case.reference} was not kept: it was too large, or it was discarded.",
            Exit.INVALID,
        )
    if not isinstance(envelope, dict):
        raise OpsError(
            f"The message of {case.reference} is not a JSON object, so it has no fields to set.", Exit.INVALID
        )
    return envelope


def _validated(envelope: Fields) -> bytes:
    try:
        opened = Envelope.from_bytes(json.dumps(envelope).encode())
        if opened.question.language not in languages():
            raise OpsError(f"question.language must be one of {', '.join(languages())}.", Exit.INVALID)
        return opened.to_bytes()
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
    return lines or ["(the change is in hidden text; --with-text shows it)"]


def _replay_edited(case: Case, corrected: bytes, order: Order, world: World) -> str:
    def decide(current: Fields) -> Change:
        if current.get("state") != OPEN:
            return Change(f"{current.get('state')} – skipped")
        kept = current.get("edits")
        earlier = [each for each in kept if isinstance(each, dict)] if isinstance(kept, list) else []
        edit = {
            "at": datetime.now(UTC),
            "by": order.operation.by,
            "before": current.get("data"),
            "after": corrected,
        }
        edits = [*earlier, edit][-MOST_EDITS:]
        while len(edits) > 1 and _size(edits) > MOST_BYTES - len(corrected):
            del edits[0]
        return Change("edited", {"data": corrected, "bytes": len(corrected), "edits": edits})

    change = world.store.act(case.id, order.operation, decide)
    if change.fields is None:
        return change.outcome
    return str(replay(case.id, order, world).outcome)


def _size(edits: list[Any]) -> int:
    return sum(len(each.get(name) or b"") for each in edits for name in ("before", "after"))
