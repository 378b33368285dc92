"""What people told the bot to forget, so that nothing of it comes back from what was under way just then.

`forgotten/<resource name with _>`: name (a conversation, a whole space, or one question), at, expired_at.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, document_id, expiry, read_all
from shared.messages.envelope import Question
from shared.runtime.deadline import Deadline

COLLECTION = "forgotten"
FIELDS = ("name", "at")


class Forgotten:
    """The tombstones of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def record(self, name: str, at: datetime, deadline: Deadline) -> None:
        """Note that all that was asked until then in a conversation or a space is forgotten, or one question.

        Raises Transient or Permanent.
        """

        def edit(current: Fields | None) -> Fields | None:
            before = (current or {}).get("at")
            if isinstance(before, datetime) and before >= at:
                return None
            return {"name": name, "at": at, "expired_at": expiry(datetime.now(UTC), retention.FORGOTTEN)}

        change(self._client, self._reference(name), edit, deadline)

    def covers(self, question: Question, deadline: Deadline) -> bool:
        """Whether a question was asked before it was told to be forgotten. Raises Transient or Permanent."""
        return bool(self.among([question], deadline))

    def among(self, questions: Sequence[Question], deadline: Deadline) -> set[str]:
        """The ids of those of some questions that are to be forgotten. Raises Transient or Permanent."""
        references = {each.path: each for question in questions for each in self.references(question)}
        if not references:
            return set()
        found = read_all(self._client, list(references.values()), deadline, fields=FIELDS)
        tombstones = [snapshot.to_dict() for snapshot in found if snapshot.exists]
        return {question.id for question in questions if covers(tombstones, question)}

    def references(self, question: Question) -> list[Any]:
        """The documents that may tell to forget a question."""
        return [self._reference(name) for name in _names(question)]

    def _reference(self, name: str) -> Any:
        return self._client.collection(COLLECTION).document(document_id(name))


def covers(tombstones: Iterable[Fields | None], question: Question) -> bool:
    """Whether one of these documents tells to forget a question."""
    names = _names(question)
    return any(
        tombstone.get("name") in names
        and isinstance(tombstone.get("at"), datetime)
        and question.asked_at <= tombstone["at"]
        for tombstone in tombstones
        if tombstone
    )


def forgotten_until(tombstones: Iterable[Fields | None]) -> datetime | None:
    """The latest time until which these documents tell to forget; None when they tell nothing."""
    times = (tombstone.get("at") for tombstone in tombstones if tombstone)
    return max((at for at in times if isinstance(at, datetime)), default=None)


def _names(question: Question) -> list[str]:
    """What may be forgotten of which a question is."""
    return list(dict.fromkeys((question.conversation, question.space, question.id)))
