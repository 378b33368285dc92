"""Our own record of a question: it decides what may still be written into the question's Chat message.

Chat has no precondition for an update, so a late progress update could overwrite the answer. Therefore
progress is only written under a short lease, and a final message is first noted here and then waits until
no lease is running. The first final message that is noted wins; a redelivery posts that one again.

`questions/<message name with _>`: question_id, lease_until, final, posted, expired_at.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from google.api_core.exceptions import NotFound

from shared.deadline import Deadline
from shared.firestore import TIMEOUT, Fields, change, document_id, expiry, read
from shared.retry import call

COLLECTION = "questions"
#: Longer than a progress write may take, so that none is under way when the lease is over.
LEASE = timedelta(seconds=6)
#: How often a final message looks whether the running lease was given back, in seconds.
POLL = 0.1


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

    def lease(self, question_id: str, deadline: Deadline) -> bool:
        """Ask to write progress now: False when a final message is noted or another lease is running."""
        now = datetime.now(UTC)
        granted: list[bool] = []

        def edit(current: Fields | None) -> Fields | None:
            record = current or self._fresh(question_id, now)
            granted.append(record.get("final") is None and not _leased(record, now))
            return {**record, "lease_until": now + LEASE} if granted[-1] else None

        change(self._client, self._reference(question_id), edit, deadline, attempts=1)
        return granted[-1]

    def release(self, question_id: str, deadline: Deadline) -> None:
        """Give the lease back, so that a final message need not wait for its end."""
        reference = self._reference(question_id)
        with suppress(NotFound):  # purged meanwhile: no lease either
            call(
                lambda timeout: reference.update({"lease_until": None}, retry=None, timeout=timeout),
                service="firestore",
                deadline=deadline,
                timeout=TIMEOUT,
                attempts=1,
                answers=(NotFound,),
            )

    def settled(self, question_id: str, deadline: Deadline) -> Settled | None:
        """The final message that was noted for this question, if any."""
        snapshot = read(self._reference(question_id), deadline)
        return _settled(snapshot.to_dict() if snapshot.exists else None)

    def settle(self, question_id: str, final: Fields, deadline: Deadline) -> Settled:
        """Note the final message, unless one is noted already, and wait until no progress is under way."""
        now = datetime.now(UTC)

        def edit(current: Fields | None) -> Fields | None:
            record = current or self._fresh(question_id, now)
            return None if record.get("final") else {**record, "final": final, "posted": False}

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
            "lease_until": None,
            "final": None,
            "posted": False,
            "expired_at": expiry(now, self._keep),
        }


def _leased(record: Fields, now: datetime) -> bool:
    until = record.get("lease_until")
    return isinstance(until, datetime) and until > now


def _settled(record: Fields | None) -> Settled | None:
    final = (record or {}).get("final")
    return Settled(final, bool((record or {}).get("posted"))) if isinstance(final, dict) else None
