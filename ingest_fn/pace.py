"""How many questions a person asks a minute, so that nobody keeps everybody else waiting.

`askers/<hash of the person>`: asked ([{question_id, at}] of the last minute), expired_at. One read and one
write for each question, and none of it must keep a question: where it cannot be read, there is no limit.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, expiry
from shared.messages.envelope import Question
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import in_one_line
from shared.runtime.retry import FIRESTORE_ONCE

COLLECTION = "askers"
WINDOW = timedelta(minutes=1)
#: Seconds that looking may take.
WAIT_FOR_PACE = 2.0


class Pace:
    """Counts questions in one Firestore database; `most` a minute are taken."""

    def __init__(self, client: Any, most: int) -> None:
        self._client = client
        self.most = most

    def allows(self, question: Question, deadline: Deadline) -> bool:
        """Whether a question is not one too many; the same again for one that was taken. Never fails."""
        person = hashlib.sha256(question.person.encode()).hexdigest()[:40]
        reference = self._client.collection(COLLECTION).document(person)
        allowed = True

        def edit(current: Fields | None) -> Fields | None:
            nonlocal allowed
            now = datetime.now(UTC)
            asked = _recent(current, now)
            known = any(entry["question_id"] == question.id for entry in asked)
            allowed = known or len(asked) < self.most
            if known or not allowed:
                return None
            asked.append({"question_id": question.id, "at": now})
            return {"asked": asked, "expired_at": expiry(now, retention.ASKERS)}

        try:
            change(self._client, reference, edit, deadline.within(WAIT_FOR_PACE), FIRESTORE_ONCE)
        except Exception as error:
            logs.warning("Questions are not counted", error=in_one_line(error))
            return True
        return allowed


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
