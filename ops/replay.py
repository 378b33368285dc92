"""Replay one case: claim it, send it, wait for the confirmation, record it. Safe to interrupt.

A compare-and-set claims the case for a while, so that two operators do not send it at the same moment. The
case stays open until Pub/Sub confirms the message. If a run dies before that, the next run sends the same
message again. The pipeline answers a question once, however often it receives it.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from ops.audit import Operation
from ops.case import Case
from ops.changes import Change
from ops.errors import OpsError
from ops.resend import resend
from ops.world import World
from shared.memory.cases import DISCARDED, OPEN, REPLAYED
from shared.memory.firestore import Fields, change, count
from shared.memory.records import COLLECTION
from shared.messages.ending import APOLOGY
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError

#: How long a claim holds, and how long sending one message may take (seconds). The second is shorter.
CLAIM = timedelta(seconds=20)
WAIT = 15.0


class Outcome(StrEnum):
    """The outcome for one message of a replay."""

    REPLAYED = "replayed"
    ANSWERED = "already answered – skipped"
    STALE = "stale – skipped"
    TAKEN = "no longer open – skipped"
    CLAIMED = "being replayed by somebody else – skipped"
    SENDING = "being sent"
    FAILED = "failed"


@dataclass(frozen=True)
class Order:
    """How to replay. `restart` is the step to restart at. The two flags switch off the checks."""

    operation: Operation
    restart: str | None = None
    even_stale: bool = False
    even_answered: bool = False


@dataclass(frozen=True)
class Result:
    """One message's outcome with details. `error` is the error of sending it to Pub/Sub."""

    case: Case
    outcome: Outcome
    detail: str = ""
    error: StepError | None = None


def replay(case_id: str, order: Order, world: World) -> Result:
    """Replay one case. A message that cannot be sent is a FAILED result. Raises Firestore's errors."""
    fields = world.store.fields(case_id)
    case = Case.read(case_id, fields or {})
    outcome, detail = (Outcome.TAKEN, "it is gone") if fields is None else _guarded(case, order, world)
    if outcome is not None:
        return _record(case, order, world, outcome, detail)
    key = secrets.token_hex(8)
    if world.store.act(case_id, order.operation, _claiming(case, key, order)).outcome == Outcome.CLAIMED:
        return Result(case, Outcome.CLAIMED)
    try:
        if order.even_answered:
            _forget_answer(case, world)
        again = resend(case, case.replays + 1, order.operation.name, order.restart)
        world.outbox.send(world.settings.named(again.topic), again.message, Deadline(WAIT))
    except (OpsError, StepError, ValueError) as error:
        world.store.act(case_id, order.operation, _failed(key, str(error)))
        return Result(case, Outcome.FAILED, str(error), error if isinstance(error, StepError) else None)
    world.store.act(case_id, order.operation, _sent(case, order))
    return Result(case, Outcome.REPLAYED)


def outlook(case: Case, order: Order, world: World) -> Result:
    """What `replay` would do now with a case that was read with its message. Sends nothing."""
    outcome, detail = _guarded(case, order, world)
    if outcome is not None:
        return Result(case, outcome, detail)
    try:
        resend(case, case.replays + 1, order.operation.name, order.restart)
    except (OpsError, ValueError) as error:
        return Result(case, Outcome.FAILED, str(error))
    return Result(case, Outcome.REPLAYED)


def outlooks(cases: list[Case], order: Order, world: World) -> list[Result]:
    """The same for cases that were listed without their messages."""
    whole = world.store.whole([case.id for case in cases])
    return [outlook(Case.read(case_id, fields), order, world) for case_id, fields in whole]


def answered(case: Case, world: World) -> bool:
    """Whether the question's record shows an answer. Expired records count as no answer.

    If the asker has asked again, an earlier answer does not count.
    """
    ending = world.records.ending(case.question_id, Deadline(WAIT))
    return ending is not None and ending.answer_number >= case.again and ending.kind != APOLOGY


def _guarded(case: Case, order: Order, world: World) -> tuple[Outcome | None, str]:
    if not order.even_answered:
        if case.answered_at is None and case.space and answered(case, world):
            world.store.set(case.id, lambda _: {"answered_at": datetime.now(UTC)})
            return Outcome.ANSWERED, ""
        if case.answered_at is not None:
            return Outcome.ANSWERED, ""
    if case.state != OPEN and not (order.even_answered and case.answered_at and case.state == REPLAYED):
        return Outcome.TAKEN, f"it is {case.state}"
    if case.age > world.settings.stale_after and not order.even_stale:
        return Outcome.STALE, ""
    return None, ""


def _claiming(case: Case, key: str, order: Order) -> Callable[[Fields], Change]:
    """Claim a case that has not changed since it was read, unless another operator was faster.

    The audit records the claim before the message is sent, so a run that dies leaves a trace.
    """

    def decide(current: Fields) -> Change:
        if _ours(current, key):
            return Change(Outcome.SENDING)  # the confirmation of the first write was lost
        now = datetime.now(UTC)
        read_as = Case.read(case.id, current)
        unchanged = read_as.state == case.state and read_as.replays == case.replays
        if not unchanged or _claimed(current, now):
            return Change(Outcome.CLAIMED)
        claim = {"key": key, "until": now + CLAIM, "by": order.operation.by}
        return Change(Outcome.SENDING, {"claim": claim})

    return decide


def _forget_answer(case: Case, world: World) -> None:
    """Let the question's message be written again, in place. Its saved turn stays."""
    document = world.firestore.collection(COLLECTION).document(case.id)
    change(
        world.firestore,
        document,
        lambda current: current and {"final": None},
        Deadline(WAIT),
    )


def _claimed(current: Fields, now: datetime) -> bool:
    claim = current.get("claim")
    until = claim.get("until") if isinstance(claim, dict) else None
    return isinstance(until, datetime) and until > now


def _ours(current: Fields, key: str) -> bool:
    claim = current.get("claim")
    return isinstance(claim, dict) and claim.get("key") == key


def _sent(case: Case, order: Order) -> Callable[[Fields], Change]:
    number = case.replays + 1

    def decide(current: Fields) -> Change:
        recorded: Fields = {
            "replay_name": order.operation.name,
            "replayed_at": datetime.now(UTC),
            "claim": None,
        }
        if order.even_answered and current.get("answered_at") == case.answered_at:
            recorded["answered_at"] = None  # until the new answer stands
        if count(current, "replays") < number:  # otherwise it failed again before this could be recorded
            given_up = current.get("state") == DISCARDED  # by another operator, just now
            recorded |= {"state": DISCARDED if given_up else REPLAYED, "replays": number}
        return Change(Outcome.REPLAYED, recorded)

    return decide


def _failed(key: str, detail: str) -> Callable[[Fields], Change]:
    def decide(current: Fields) -> Change:
        return Change(Outcome.FAILED, {"claim": None} if _ours(current, key) else None, detail)

    return decide


def _record(case: Case, order: Order, world: World, outcome: Outcome, detail: str) -> Result:
    world.store.act(case.id, order.operation, lambda _: Change(outcome, None, detail))
    return Result(case, outcome, detail)
