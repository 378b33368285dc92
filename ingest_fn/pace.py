"""Limits the questions of one person a minute, so that nobody makes everybody else wait.

`askers/<hash of the person>`: asked ([{question_id, at}] of the last minute), expired_at. If the document
cannot be read, there is no limit: a failed read must not block a question.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, expiry
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import in_one_line
from shared.runtime.retry import FIRESTORE_ONCE

COLLECTION = "askers"
WINDOW = timedelta(minutes=1)
#: Seconds for reading and changing the count.
WAIT_FOR_PACE = 2.0


class Pace:
    """Counts questions in one Firestore database; a person may ask `most` a minute."""

    def __init__(self, client: Any, most: int) -> None:
        self._client = client
        self.most = most

    def reference(self, person: str) -> Any:
        """The document of a person."""
        return self._client.collection(COLLECTION).document(hashlib.sha256(person.encode()).hexdigest()[:40])

    def counted(self, current: Fields | None, question_id: str, now: datetime) -> Fields | None:
        """The new fields of a person who asks a question. Empty if the question was counted before; None if
        the person has reached the limit."""
        asked = _recent(current, now)
        if any(entry["question_id"] == question_id for entry in asked):
            return {}
        if len(asked) >= self.most:
            return None
        asked.append({"question_id": question_id, "at": now})
        return {"asked": asked, "expired_at": expiry(now, retention.ASKERS)}

    def allows(self, person: str, question_id: str, deadline: Deadline) -> bool:
        """Count a question of a person, and return whether it is within the limit. Never fails."""
        counted: Fields | None = None

        def edit(current: Fields | None) -> Fields | None:
            nonlocal counted
            counted = self.counted(current, question_id, datetime.now(UTC))
            return counted or None

        try:
            change(self._client, self.reference(person), edit, deadline.within(WAIT_FOR_PACE), FIRESTORE_ONCE)
        except Exception as error:
            logs.warning("The question was not counted", error=in_one_line(error))
            return True
        return counted is not None


def _recent(current: Fields | None, now: datetime) -> list[Fields]:
    listed = (current or {}).get("asked")
    return [
        entry
        for entry in (listed if isinstance(listed, list) else [])
        if isinstance(entry, dict)
        and isinstance(entry.get("question_id"), str)
        and isinstance(entry.get("at"), datetime)
        and now - entry["at"] < WINDOW
    ]
