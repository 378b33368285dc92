"""Our own record of a question: it decides what may still be written into the question's Chat message.

Chat has no precondition for an update, so a late progress update could overwrite the answer. Therefore
progress is only written under a short lease, and a final message is first noted here and then waits until
no lease is running. The first answer that is noted wins, and a redelivery posts that one again. An apology
is written under a lease too, and gives way to an answer.

`questions/<message name with _>`: question_id, lease, lease_until, final, posted, expired_at; `final` is
what the message says at last: kind (answer, fallback, apology), text, sources and so on.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.deadline import Deadline
from shared.errors import Transient
from shared.firestore import TIMEOUT, Fields, change, document_id, expiry, read
from shared.retry import call

COLLECTION = "questions"
#: Longer than a progress write may take, so that none is under way when the lease is over.
LEASE = timedelta(seconds=6)
#: The same for an apology, whose write is tried more than once (WAIT_FOR_APOLOGY in answer_fn/tell.py).
APOLOGY_LEASE = timedelta(seconds=12)
#: How often a final message looks whether the running lease was given back, in seconds.
POLL = 0.1
APOLOGY = "apology"


@dataclass(frozen=True)
class Settled:
    """The final message of a question, and whether all that follows from it was done already."""

    final: Fields
    posted: bool


class Records:
    """The question records of one Firestore database; `hours` is how long one is kept."""

    def __init__(self, client: Any, hours: float, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._keep = timedelta(hours=hours)
        self._sleep = sleep

    def lease(self, question_id: str, deadline: Deadline) -> str | None:
        """Ask to write progress now: a lease to give back, or None when a final message is noted or
        somebody else is writing."""
        return self._lease(question_id, LEASE, None, deadline)

    def lease_for_apology(self, question_id: str, apology: Fields, deadline: Deadline) -> str | None:
        """Note an apology and ask to write it now: a lease, or None when an answer is noted or the apology
        is posted. Raises Transient while somebody else is writing."""
        return self._lease(question_id, APOLOGY_LEASE, apology, deadline)

    def release(self, question_id: str, lease: str, deadline: Deadline, *, apologised: bool = False) -> None:
        """Give the lease back, so that a final message need not wait for its end."""

        def edit(current: Fields | None) -> Fields | None:
            if current is None or current.get("lease") != lease:
                return None  # it has run out, and is somebody else's by now
            posted = bool(current.get("posted")) or (apologised and _kind(current) == APOLOGY)
            return {**current, "lease": None, "lease_until": None, "posted": posted}

        change(self._client, self._reference(question_id), edit, deadline)

    def _lease(
        self, question_id: str, length: timedelta, apology: Fields | None, deadline: Deadline
    ) -> str | None:
        now = datetime.now(UTC)
        lease = secrets.token_hex(8)
        granted = False

        def edit(current: Fields | None) -> Fields | None:
            nonlocal granted
            record = current or self._fresh(question_id, now)
            granted = _may_write(record, apology) and not _leased(record, now)
            if not granted:
                if apology is not None and _may_write(record, apology):
                    raise Transient("message_busy", "progress is being written")
                return None
            final = {} if apology is None else {"final": apology}
            return {**record, **final, "lease": lease, "lease_until": now + length}

        change(self._client, self._reference(question_id), edit, deadline, attempts=1)
        return lease if granted else None

    def settled(self, question_id: str, deadline: Deadline) -> Settled | None:
        """The final message that was noted for this question, if any."""
        snapshot = read(self._reference(question_id), deadline)
        return _settled(snapshot.to_dict() if snapshot.exists else None)

    def settle(self, question_id: str, final: Fields, deadline: Deadline) -> Settled:
        """Note the final message, unless one is noted already, and wait until nothing is being written."""
        now = datetime.now(UTC)

        def edit(current: Fields | None) -> Fields | None:
            record = current or self._fresh(question_id, now)
            if _kind(record) not in {None, APOLOGY}:
                return None
            return {**record, "final": final, "posted": False}

        reference = self._reference(question_id)
        record = change(self._client, reference, edit, deadline)
        while _leased(record or {}, datetime.now(UTC)) and deadline.remaining > POLL:
            self._sleep(POLL)
            record = read(reference, deadline).to_dict()
        return _settled(record) or Settled(final, posted=False)

    def mark_posted(self, question_id: str, deadline: Deadline) -> None:
        """Note that the final message is in Chat and its turn is saved: a redelivery has nothing to do."""
        reference = self._reference(question_id)
        call(
            lambda timeout: reference.update({"posted": True}, retry=None, timeout=timeout),
            service="firestore",
            deadline=deadline,
            timeout=TIMEOUT,
        )

    def _reference(self, question_id: str) -> Any:
        return self._client.collection(COLLECTION).document(document_id(question_id))

    def _fresh(self, question_id: str, now: datetime) -> Fields:
        return {
            "question_id": question_id,
            "lease": None,
            "lease_until": None,
            "final": None,
            "posted": False,
            "expired_at": expiry(now, self._keep),
        }


def _kind(record: Fields) -> str | None:
    final = record.get("final")
    return str(final.get("kind")) if isinstance(final, dict) else None


def _may_write(record: Fields, apology: Fields | None) -> bool:
    """Whether progress, or this apology, may still be written: not after an answer, and an apology once."""
    if apology is None:
        return _kind(record) is None
    return _kind(record) in {None, APOLOGY} and not record.get("posted")


def _leased(record: Fields, now: datetime) -> bool:
    until = record.get("lease_until")
    return isinstance(until, datetime) and until > now


def _settled(record: Fields | None) -> Settled | None:
    final = (record or {}).get("final")
    return Settled(final, bool((record or {}).get("posted"))) if isinstance(final, dict) else None
