"""Replaying one case: claim it, send it, wait for the confirmation, note it. Safe to be cut off anywhere.

A case is claimed for a while by compare-and-set, so that two operators do not send it at the same moment. It
leaves the open ones only once its message is confirmed; whoever dies before that leaves it to the next run,
which sends the same message again, and the pipeline answers a question once however often it gets it.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from ops.audit import Operation
from ops.case import Case
from ops.errors import OpsError
from ops.resend import resend
from ops.store import Change
from ops.world import World
from shared.cases import OPEN, REPLAYED, count
from shared.deadline import Deadline
from shared.errors import StepError
from shared.firestore import Fields, change
from shared.records import APOLOGY, COLLECTION

#: How long a claim holds, and how long sending one message may take (seconds): no longer than that.
CLAIM = timedelta(seconds=20)
WAIT = 15.0


class Outcome(StrEnum):
    """What became of one message of a replay."""

    REPLAYED = "replayed"
    ANSWERED = "already answered – skipped"
    STALE = "stale – skipped"
    TAKEN = "no longer open – skipped"
    CLAIMED = "being replayed by somebody else – skipped"
    FAILED = "failed"


@dataclass(frozen=True)
class Order:
    """How to replay. `restart` is the step to begin again at; the two flags switch the guards off."""

    operation: Operation
    restart: str | None = None
    even_stale: bool = False
    even_answered: bool = False


@dataclass(frozen=True)
class Result:
    """One message's outcome, with what to know about it."""

    case: Case
    outcome: Outcome
    detail: str = ""


def replay(case_id: str, order: Order, world: World) -> Result:
    """Replay one case. Raises what Firestore raises; a message that cannot be sent is a FAILED result."""
    case = Case.read(case_id, world.store.fields(case_id) or {})
    outcome, detail = _guarded(case, order, world)
    if outcome is not None:
        return _note(case, order, world, outcome, detail)
    key = _claim(case, order, world)
    if key is None:
        return Result(case, Outcome.CLAIMED)
    try:
        if order.even_answered:
            _forget_answer(case, world)
        again = resend(case, case.replays + 1, order.operation.name, order.restart)
        world.outbox.send(world.settings.named(again.topic), again.message, Deadline(WAIT))
    except (OpsError, StepError, ValueError) as error:
        world.store.set(case_id, lambda current: {"claim": None} if _ours(current, key) else None)
        return _note(case, order, world, Outcome.FAILED, str(error))
    world.store.act(case_id, order.operation, _sent(case.replays + 1, order))
    return Result(case, Outcome.REPLAYED)


def give_up(result: Result, order: Order, world: World) -> Result:
    """Note in the audit that a claimed case was left to whoever claims it."""
    return _note(result.case, order, world, result.outcome, "claimed")


def outlook(case: Case, order: Order, world: World) -> Outcome:
    """What `replay` would do with a case now; nothing is changed."""
    return _guarded(case, order, world)[0] or Outcome.REPLAYED


def answered(question_id: str, world: World) -> bool:
    """Whether an answer to a question is posted, as far as its record is still kept."""
    settled = world.records.settled(question_id, Deadline(WAIT))
    return settled is not None and settled.posted and settled.final["kind"] != APOLOGY


def _guarded(case: Case, order: Order, world: World) -> tuple[Outcome | None, str]:
    if not case.question_id:
        return Outcome.TAKEN, "the case is gone"
    if not order.even_answered:
        if case.answered_at is None and case.space and answered(case.question_id, world):
            world.store.set(case.id, lambda _: {"answered_at": datetime.now(UTC)})
            return Outcome.ANSWERED, ""
        if case.answered_at is not None:
            return Outcome.ANSWERED, ""
    if case.state != OPEN and not (order.even_answered and case.answered_at and case.state == REPLAYED):
        return Outcome.TAKEN, f"it is {case.state}"
    if case.age > world.settings.stale_after and not order.even_stale:
        return Outcome.STALE, ""
    return None, ""


def _claim(case: Case, order: Order, world: World) -> str | None:
    """Claim a case that has not changed since it was read; None when another operator was faster."""
    key = secrets.token_hex(8)

    def edit(current: Fields) -> Fields | None:
        now = datetime.now(UTC)
        unchanged = current.get("state") == case.state and count(current, "replays") == case.replays
        if not unchanged or _claimed(current, now):
            return None
        return {"claim": {"key": key, "until": now + CLAIM, "by": order.operation.by}}

    return key if _ours(world.store.set(case.id, edit) or {}, key) else None


def _forget_answer(case: Case, world: World) -> None:
    """So that the question's message is written anew, in place; its turn stays as it was saved."""
    document = world.firestore.collection(COLLECTION).document(case.id)
    change(
        world.firestore,
        document,
        lambda current: current and {"final": None, "posted": False, "apologised": True},
        Deadline(WAIT),
    )


def _claimed(current: Fields, now: datetime) -> bool:
    claim = current.get("claim")
    until = claim.get("until") if isinstance(claim, dict) else None
    return isinstance(until, datetime) and until > now


def _ours(current: Fields, key: str) -> bool:
    claim = current.get("claim")
    return isinstance(claim, dict) and claim.get("key") == key


def _sent(number: int, order: Order) -> Callable[[Fields], Change]:
    def decide(current: Fields) -> Change:
        if current.get("replay_name") == order.operation.name and count(current, "replays") >= number:
            return Change(Outcome.REPLAYED)  # noted already: the confirmation of the first write was lost
        noted = {
            "replay_name": order.operation.name,
            "replayed_at": datetime.now(UTC),
            "answered_at": None if order.even_answered else current.get("answered_at"),
            "claim": None,
        }
        if count(current, "replays") >= number:  # it has come back before this could be noted
            return Change(Outcome.REPLAYED, noted)
        return Change(Outcome.REPLAYED, {**noted, "state": REPLAYED, "replays": number})

    return decide


def _note(case: Case, order: Order, world: World, outcome: Outcome, detail: str) -> Result:
    world.store.act(case.id, order.operation, lambda _: Change(outcome, None, detail))
    return Result(case, outcome, detail)
