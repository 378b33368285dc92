"""Our own record of a question: it decides what may still be written into the question's Chat message.

Chat has no precondition for an update, so a late progress update could overwrite the answer. Therefore
progress is only written under a short lease, and a final message is first noted here and then waits until
no lease is running. The first answer that is noted wins, and a redelivery posts that one again. An apology
is written under a lease too, and an answer replaces it. Whoever asked may have a question answered again:
then the message belongs to the answer with the highest `again`, and what is under way for an earlier one
comes too late.

`questions/<message name with _>`: question_id, lease, lease_until, final, posted, apologised, expired_at;
`apologised` tells whether an apology was noted at any time. What `final` holds: `shared/messages/ending.py`.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, document_id, expiry, read
from shared.messages.ending import APOLOGY, Ending
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from shared.runtime.retry import FIRESTORE_ONCE

COLLECTION = "questions"
#: Longer than a progress write may take, so that none is under way when the lease is over.
LEASE = timedelta(seconds=6)
#: The same for an apology, whose write is tried more than once (WAIT_FOR_APOLOGY in answer_fn/tell.py).
APOLOGY_LEASE = timedelta(seconds=12)
#: Seconds before the end of a lease in which nothing is written any more: clocks differ.
MARGIN = 0.5
#: How often a final message looks whether the running lease was given back, in seconds.
POLL = 0.1


@dataclass(frozen=True)
class Settled:
    """The ending of a question, and whether all that follows from it was done already."""

    ending: Ending
    posted: bool
    #: Whether the question has been a dead letter: an apology was noted before.
    apologised: bool = False

    @property
    def answer_number(self) -> int:
        """The number of the answer; 0 is the first one."""
        return self.ending.answer_number


@dataclass(frozen=True)
class Lease:
    """The right to write into a question's message until a time; `key` tells it from later leases."""

    key: str
    until: datetime

    @property
    def seconds(self) -> float:
        """How long it still holds, never negative."""
        return max(0.0, (self.until - datetime.now(UTC)).total_seconds())


class Records:
    """The question records of one Firestore database; `hours` is how long one is kept."""

    def __init__(self, client: Any, hours: float, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._keep = retention.by_history(hours)
        self._sleep = sleep

    def lease(self, question_id: str, deadline: Deadline, *, answer_number: int = 0) -> Lease | None:
        """Ask to write progress now: a lease to give back, or None when a final message is noted or
        somebody else is writing."""
        return self._lease(question_id, LEASE, None, answer_number, deadline)

    def lease_for_apology(self, question_id: str, apology: Ending, deadline: Deadline) -> Lease | None:
        """Note an apology and ask to write it now: a lease, or None when an answer is noted or the apology
        is posted. Raises Transient while somebody else is writing."""
        return self._lease(question_id, APOLOGY_LEASE, apology, apology.answer_number, deadline)

    @contextmanager
    def writing(
        self, question_id: str, lease: Lease, deadline: Deadline, *, apology: bool = False
    ) -> Iterator[Deadline]:
        """Write under a lease, by the deadline that is given, and give the lease back afterwards.

        While it is in doubt whether the write will still show, the lease is left to run out instead.
        """
        try:
            yield deadline.within(lease.seconds - MARGIN)
        except Transient as trouble:
            if not trouble.in_doubt:
                self.release(question_id, lease, deadline)
            raise
        except Permanent:
            self.release(question_id, lease, deadline)
            raise
        self.release(question_id, lease, deadline, apologised=apology)

    def release(
        self, question_id: str, lease: Lease, deadline: Deadline, *, apologised: bool = False
    ) -> None:
        """Give the lease back, so that a final message need not wait for its end."""

        def edit(current: Fields | None) -> Fields | None:
            if current is None or current.get("lease") != lease.key:
                return None  # it has run out, and is somebody else's by now
            shown = Ending.read(current.get("final")) if apologised else None
            posted = bool(current.get("posted")) or (shown is not None and shown.kind == APOLOGY)
            return {"lease": None, "lease_until": None, "posted": posted}

        change(self._client, self._reference(question_id), edit, deadline)

    def _lease(
        self,
        question_id: str,
        length: timedelta,
        apology: Ending | None,
        answer_number: int,
        deadline: Deadline,
    ) -> Lease | None:
        granted: Lease | None = None

        def edit(current: Fields | None) -> Fields | None:
            nonlocal granted
            now = datetime.now(UTC)  # each time anew: reading may have taken a while
            record = self._record(question_id, current, now)
            granted = None
            if not _may_write(record, apology, answer_number):
                return None
            if _leased(record, now):
                if apology is not None:
                    raise Transient("message_busy", "progress is being written")
                return None
            granted = Lease(secrets.token_hex(8), now + length)
            return {**record, **_with_apology(apology), "lease": granted.key, "lease_until": granted.until}

        change(self._client, self._reference(question_id), edit, deadline, FIRESTORE_ONCE)
        return granted

    def settled(self, question_id: str, deadline: Deadline) -> Settled | None:
        """The final message that was noted for this question, if any."""
        snapshot = read(self._reference(question_id), deadline)
        return _settled(snapshot.to_dict() if snapshot.exists else None)

    def settle(self, question_id: str, ending: Ending, deadline: Deadline) -> Settled:
        """Note the final message, unless one is noted already, and wait until nothing is being written.

        Returns what is noted then: it may be of a later time, when the question was answered again.
        """
        now = datetime.now(UTC)

        def edit(current: Fields | None) -> Fields | None:
            record = self._record(question_id, current, now)
            recorded = Ending.read(record["final"])
            if recorded is not None and not recorded.is_replaced_by(ending.answer_number):
                return None
            return {**record, "final": ending.to_fields(), "posted": False}

        reference = self._reference(question_id)
        record = change(self._client, reference, edit, deadline)
        while _leased(record or {}, datetime.now(UTC)) and deadline.remaining > POLL:
            self._sleep(POLL)
            record = read(reference, deadline).to_dict()
        return _settled(record) or Settled(ending, posted=False)

    def mark_posted(self, question_id: str, deadline: Deadline, *, answer_number: int = 0) -> Settled | None:
        """Note that the final message is in Chat and its turn is saved: a redelivery has nothing to do.

        Returns the final message of a later time, if one was noted meanwhile: then that one is to be seen.
        """
        newer: Settled | None = None

        def edit(current: Fields | None) -> Fields | None:
            nonlocal newer
            settled = _settled(current)
            newer = settled if settled and settled.answer_number > answer_number else None
            return {"posted": True} if settled and newer is None and not settled.posted else None

        change(self._client, self._reference(question_id), edit, deadline)
        return newer

    def _reference(self, question_id: str) -> Any:
        return self._client.collection(COLLECTION).document(document_id(question_id))

    def _record(self, question_id: str, current: Fields | None, now: datetime) -> Fields:
        """The record as it is, as far as it has the shape of one, or a new one."""
        fresh: Fields = {
            "question_id": question_id,
            "lease": None,
            "lease_until": None,
            "final": None,
            "posted": False,
            "apologised": False,
            "expired_at": expiry(now, self._keep),
        }
        return fresh | {name: value for name, value in (current or {}).items() if name in fresh}


def _with_apology(apology: Ending | None) -> Fields:
    return {"final": apology.to_fields(), "posted": False, "apologised": True} if apology else {}


def _may_write(record: Fields, apology: Ending | None, answer_number: int) -> bool:
    """Whether progress, or this apology, may still be written: not after an answer, and an apology once."""
    recorded = Ending.read(record.get("final"))
    if recorded is None or recorded.answer_number < answer_number:
        return True
    return apology is not None and recorded.is_replaced_by(answer_number) and not record.get("posted")


def _leased(record: Fields, now: datetime) -> bool:
    until = record.get("lease_until")
    return isinstance(until, datetime) and until > now


def _settled(record: Fields | None) -> Settled | None:
    record = record or {}
    ending = Ending.read(record.get("final"))
    if ending is None:
        return None
    return Settled(ending, bool(record.get("posted")), bool(record.get("apologised")))
