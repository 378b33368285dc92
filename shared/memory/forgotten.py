"""Tombstones: they record what the bot must forget, so that work in progress does not store it again.

`forgotten/<resource name with _>`: name (a conversation, a space, or one question), at, expired_at. The bot
must forget what was asked there until `at`.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, expiry, read_all
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline

COLLECTION = "forgotten"
FIELDS = ("name", "at")


class Forgotten:
    """The tombstones of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def record(self, name: str, at: datetime, deadline: Deadline) -> None:
        """Record that the bot must forget what was asked until `at` in a conversation or space, or one
        question.

        Raises Transient or Permanent.
        """

        def edit(current: Fields | None) -> Fields | None:
            before = (current or {}).get("at")
            if isinstance(before, datetime) and before >= at:
                return None
            return {"name": name, "at": at, "expired_at": expiry(datetime.now(UTC), retention.FORGOTTEN)}

        change(self._client, self._reference(name), edit, deadline)

    def covers(self, question: Question, deadline: Deadline) -> bool:
        """Whether the bot must forget a question. Raises Transient or Permanent."""
        return bool(self.among([question], deadline))

    def among(self, questions: Sequence[Question], deadline: Deadline) -> set[str]:
        """The ids of the questions that the bot must forget. Raises Transient or Permanent."""
        references = {each.path: each for question in questions for each in self.references(question)}
        if not references:
            return set()
        found = read_all(self._client, list(references.values()), deadline, fields=FIELDS)
        tombstones = [snapshot.to_dict() for snapshot in found if snapshot.exists]
        return {question.id for question in questions if covers(tombstones, question)}

    def references(self, question: Question) -> list[Any]:
        """The documents of the tombstones that may cover a question."""
        return [self._reference(name) for name in _names(question)]

    def _reference(self, name: str) -> Any:
        return self._client.collection(COLLECTION).document(document_id(name))


def covers(tombstones: Iterable[Fields | None], question: Question) -> bool:
    """Whether one of these tombstones covers a question."""
    names = _names(question)
    return any(
        tombstone.get("name") in names
        and isinstance(tombstone.get("at"), datetime)
        and question.asked_at <= tombstone["at"]
        for tombstone in tombstones
        if tombstone
    )


def forgotten_until(tombstones: Iterable[Fields | None]) -> datetime | None:
    """The latest time in these tombstones. None if there is none."""
    times = (tombstone.get("at") for tombstone in tombstones if tombstone)
    return max((at for at in times if isinstance(at, datetime)), default=None)


def _names(question: Question) -> list[str]:
    """The names of tombstones that cover a question: of its conversation, its space or itself."""
    return list(dict.fromkeys((question.conversation, question.space, question.id)))
