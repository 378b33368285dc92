"""Failure records: why a step failed, for operators.

A dead letter that Pub/Sub forwards carries no error, no step and a new message id, so each failed attempt
leaves a record in Firestore: `failures/<question id>.<step>`, with the error, where it came from, how often
and when. It holds nothing that a person wrote.
"""

from datetime import UTC, datetime
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, document_id, expiry, read
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError
from shared.runtime.retry import FIRESTORE_ONCE

COLLECTION = "failures"


class Failures:
    """The failure records of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def note(
        self, question_id: str, step: str, trouble: StepError, stack: list[str], deadline: Deadline
    ) -> int:
        """Count one failed attempt of `step`, and return how many there were.

        Raises Transient or Permanent when it cannot be stored.
        """
        now = datetime.now(UTC)
        reference = self.reference(question_id, step)

        def edit(current: Fields | None) -> Fields:
            earlier = current or {}
            return {
                "question_id": question_id,
                "step": step,
                "reason": trouble.reason,
                "error": str(trouble),
                "stack": stack,
                "count": _count(earlier) + 1,
                "first_at": earlier.get("first_at", now),
                "last_at": now,
                "expired_at": expiry(now, retention.FAILURES),
            }

        stored = change(self._client, reference, edit, deadline, FIRESTORE_ONCE)
        return _count(stored or {})

    def find(self, question_id: str, step: str, deadline: Deadline) -> Fields | None:
        """The record of a step's failures for a question, or None: it never failed, or its process died."""
        snapshot = read(self.reference(question_id, step), deadline)
        return snapshot.to_dict() if snapshot.exists else None

    def reference(self, question_id: str, step: str) -> Any:
        """The reference of the record of a step's failures for a question."""
        return self._client.collection(COLLECTION).document(f"{document_id(question_id)}.{step}")


def _count(record: Fields) -> int:
    count = record.get("count")
    return count if isinstance(count, int) else 0
