"""The record of a question: its ending, and the one commit that makes something its ending.

An ending is recorded here before it is posted. Endings have a rank: an answer ranks above the apology of the
same number, and an ending with a higher number ranks above both. The first ending of a rank stays. A
tombstone ranks above all endings, and then nothing more is recorded. So the record decides what the
question's message must show, no matter how often, how late and by which function it is written
(`shared/chat/display.py`). docs/protocol.md has the rules.

`questions/<message name with _>`: question_id; opened_at and asked (the question) until it ends; final (the
ending: `shared/messages/ending.py`); parts (the most messages that an ending of the question has had);
ended_at; expired_at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared.memory import cases, conversations, retention
from shared.memory.firestore import Fields, change_all, expiry, read, read_all
from shared.memory.forgotten import Forgotten, covers
from shared.messages.ending import Ending, Rank
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from shared.runtime.retry import FIRESTORE_END

COLLECTION = "questions"
#: The rank of a forgotten question, above any ending.
FORGOTTEN: Rank = (1_000_000, 0)
#: The fields that are read from a question's documents. The message in a case is large and is not read.
_FIELDS = (
    "question_id", "final", "parts", "expired_at", "conversation", "turns", "pending", "asked", "answered_at",
    "again", "name", "at",
)  # fmt: skip


@dataclass(frozen=True)
class Standing:
    """What a question's message must show. `forgotten`: a fixed sentence instead of any ending.

    `parts` is the most messages that an ending of the question has had.
    """

    ending: Ending | None = None
    forgotten: bool = False
    parts: int = 1
    #: Whether there is a record of the question.
    known: bool = False

    @property
    def rank(self) -> Rank | None:
        """The rank of what must be shown. None if the question has not ended."""
        if self.forgotten:
            return FORGOTTEN
        return self.ending.rank if self.ending else None


@dataclass(frozen=True)
class Begun:
    """The state when an answer was begun, with the documents, so that `end` need not read them again."""

    standing: Standing
    documents: Sequence[Any]


class Records:
    """The question records of one Firestore database. Each is kept for `hours`."""

    def __init__(self, client: Any, hours: float) -> None:
        self._client = client
        self._keep = retention.by_history(hours)
        self._forgotten = Forgotten(client)

    def ending(self, question_id: str, deadline: Deadline) -> Ending | None:
        """The recorded ending of a question, by its id; None if it has not ended."""
        snapshot = read(self.reference(question_id), deadline)
        return standing_in(snapshot.to_dict(), datetime.now(UTC)).ending

    def standing(self, question: Question, deadline: Deadline) -> Standing:
        """What a question's message must show now. Raises Transient or Permanent."""
        references = [self.reference(question.id), *self._forgotten.references(question)]
        record, *tombstones = _fields(read_all(self._client, references, deadline, fields=_FIELDS))
        return standing_in(record, datetime.now(UTC), forgotten=covers(tombstones, question))

    def begin(self, question: Question, deadline: Deadline) -> Begun:
        """What a question's message must show now, before a call of `end`. Raises Transient or Permanent."""
        found = read_all(self._client, self._documents(question), deadline, fields=_FIELDS)
        record, _conversation, _case, *tombstones = _fields(found)
        return Begun(standing_in(record, datetime.now(UTC), forgotten=covers(tombstones, question)), found)

    def end(
        self, question: Question, ending: Ending, deadline: Deadline, begun: Begun | None = None
    ) -> Standing:
        """Record an ending and its turn, unless an ending of the same or a higher rank is recorded already.

        The same commit removes the pending question, and closes its case if there is one. Returns what the
        message must show then. Raises Transient or Permanent.
        """
        now = datetime.now(UTC)
        standing = Standing()

        def edit(documents: list[Fields | None]) -> list[Fields | None]:
            nonlocal standing
            record, conversation, case, *tombstones = documents
            standing = standing_in(record, now, forgotten=covers(tombstones, question))
            if standing.rank is not None and standing.rank >= ending.rank:
                answered = cases.with_ending(case, standing.ending, now) if standing.ending else None
                return [None, None, answered, *(None for _ in tombstones)]
            standing = Standing(ending, parts=max(standing.parts, len(ending.parts)))
            return [
                self._ended(question.id, standing, now),
                conversations.with_ending(conversation, question, ending, now, self._keep),
                cases.with_ending(case, ending, now),
                *(None for _ in tombstones),
            ]

        change_all(
            self._client,
            self._documents(question),
            edit,
            deadline,
            fields=_FIELDS,
            seen=begun.documents if begun else None,
            policy=FIRESTORE_END,
        )
        return standing

    def reference(self, question_id: str) -> Any:
        """The document of a question."""
        return self._client.collection(COLLECTION).document(document_id(question_id))

    def opened(self, question: Question, now: datetime) -> Fields:
        """The fields of a record for a new question."""
        return {
            "question_id": question.id,
            "opened_at": now,
            "asked": question.model_dump(mode="json"),
            "expired_at": expiry(now, self._keep),
        }

    def _ended(self, question_id: str, standing: Standing, now: datetime) -> Fields:
        return {
            "question_id": question_id,
            "opened_at": None,
            "asked": None,
            "final": standing.ending.to_fields() if standing.ending else None,
            "parts": standing.parts,
            "ended_at": now,
            "expired_at": expiry(now, self._keep),
        }

    def _documents(self, question: Question) -> list[Any]:
        return [
            self.reference(question.id),
            self._client.collection(conversations.COLLECTION).document(document_id(question.conversation)),
            self._client.collection(cases.COLLECTION).document(document_id(question.id)),
            *self._forgotten.references(question),
        ]


def standing_in(record: Fields | None, now: datetime, *, forgotten: bool = False) -> Standing:
    """What must be shown, by the fields of a record. An expired or malformed record counts as missing."""
    fields = record or {}
    expired_at = fields.get("expired_at")
    if forgotten or not isinstance(expired_at, datetime) or expired_at <= now:
        return Standing(forgotten=forgotten)
    ending, parts = Ending.read(fields.get("final")), fields.get("parts")
    most = parts if isinstance(parts, int) and not isinstance(parts, bool) and 0 < parts <= 100 else 1
    return Standing(ending, parts=max(most, len(ending.parts) if ending else 1), known=True)


def _fields(snapshots: Sequence[Any]) -> list[Fields | None]:
    return [snapshot.to_dict() if snapshot.exists else None for snapshot in snapshots]
