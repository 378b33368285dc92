"""What people told the bot to forget, so that nothing of it comes back from what was under way just then.

`forgotten/<resource name with _>`: name (a conversation, a whole space, or one question), at, expired_at.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, document_id, expiry
from shared.messages.envelope import Question
from shared.runtime.deadline import Deadline
from shared.runtime.retry import FIRESTORE_SINGLE, call

COLLECTION = "forgotten"


class Forgotten:
    """The notes of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def note(self, name: str, deadline: Deadline) -> None:
        """Note that all up to now in a conversation or a space is forgotten, or one question.

        Raises Transient or Permanent.
        """
        now = datetime.now(UTC)
        fields: Fields = {"name": name, "at": now, "expired_at": expiry(now, retention.FORGOTTEN)}
        change(self._client, self._reference(name), lambda _: fields, deadline)

    def covers(self, question: Question, deadline: Deadline) -> bool:
        """Whether a question was asked before it was told to be forgotten. Raises Transient or Permanent."""
        return bool(self.among([question], deadline))

    def among(self, questions: Sequence[Question], deadline: Deadline) -> set[str]:
        """The ids of those of some questions that are to be forgotten. Raises Transient or Permanent."""
        names = {name for question in questions for name in _names(question)}
        if not names:
            return set()
        found = call(
            lambda timeout: list(
                self._client.get_all([self._reference(name) for name in names], retry=None, timeout=timeout)
            ),
            FIRESTORE_SINGLE,
            deadline,
        )
        notes = [snapshot.to_dict() or {} for snapshot in found if snapshot.exists]
        return {
            question.id
            for question in questions
            for note in notes
            if note.get("name") in _names(question)
            and isinstance(note.get("at"), datetime)
            and question.asked_at <= note["at"]
        }

    def _reference(self, name: str) -> Any:
        return self._client.collection(COLLECTION).document(document_id(name))


def _names(question: Question) -> set[str]:
    """What may be forgotten of which a question is."""
    return {question.conversation, question.space, question.id}
