"""Failure records: why a step failed, for operators.

A dead letter that Pub/Sub forwards has no error, no step and a new message id. So each failed attempt is
recorded in Firestore: `failures/<question id>.<step>` has the error, its stack, how often it happened and
when. It contains nothing that a person wrote.
"""

from datetime import UTC, datetime
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change_all, count, expiry, read
from shared.memory.forgotten import Forgotten, covers
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError
from shared.runtime.retry import FIRESTORE_ONCE

COLLECTION = "failures"


class Failures:
    """The failure records of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._forgotten = Forgotten(client)

    def record(
        self, question: Question | str, step: str, trouble: StepError, stack: list[str], deadline: Deadline
    ) -> int:
        """Record one failed attempt of `step`, and return how many there were.

        `question` may be only an id if no more is known. Nothing is recorded for a question that the bot must
        forget; then the result is 0. Raises Transient or Permanent if it cannot be stored.
        """
        now, attempts = datetime.now(UTC), 0
        asked = None if isinstance(question, str) else question
        question_id = asked.id if asked else str(question)

        def edit(documents: list[Fields | None]) -> list[Fields | None]:
            nonlocal attempts
            current, *tombstones = documents
            attempts = 0
            if asked and covers(tombstones, asked):
                return []
            earlier = current or {}
            attempts = count(earlier, "count") + 1
            failure = {
                "question_id": question_id,
                "step": step,
                "reason": trouble.reason,
                "error": str(trouble),
                "stack": stack,
                "count": attempts,
                "first_at": earlier.get("first_at", now),
                "last_at": now,
                "expired_at": expiry(now, retention.FAILURES),
            }
            return [failure, *(None for _ in tombstones)]

        references = [
            self.reference(question_id, step),
            *(self._forgotten.references(asked) if asked else ()),
        ]
        change_all(self._client, references, edit, deadline, policy=FIRESTORE_ONCE)
        return attempts

    def find(self, question_id: str, step: str, deadline: Deadline) -> Fields | None:
        """The record of a step's failures for a question. None if it never failed, or its process died."""
        snapshot = read(self.reference(question_id, step), deadline)
        return snapshot.to_dict() if snapshot.exists else None

    def reference(self, question_id: str, step: str) -> Any:
        """The document with a step's failures for a question."""
        return self._client.collection(COLLECTION).document(f"{document_id(question_id)}.{step}")
