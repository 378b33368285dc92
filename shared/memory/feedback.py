"""Ratings of answers, for the people who maintain the bot (`python -m ops feedback`).

`feedback/<hash of question and person>`: question_id, reference, conversation, space, thread, again (the
number of the answer, 0 = first), verdict (up, down), reason (only with down, else None), question,
search_query, sources (ids), model, language, asked_at, at, expired_at. There is one document for each person
and question: a new rating replaces the old one. The person's name is not stored.
"""

import hashlib
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from shared.memory import retention
from shared.memory.firestore import Fields, change_all, expiry
from shared.memory.forgotten import Forgotten, covers
from shared.messages.dead_letter import reference
from shared.messages.ending import Ending
from shared.messages.envelope import Question
from shared.runtime.deadline import Deadline

COLLECTION = "feedback"
Verdict = Literal["up", "down"]
#: Why an answer did not help.
Reason = Literal["wrong", "incomplete", "outdated", "off_topic"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
REASONS: tuple[Reason, ...] = get_args(Reason)


class Feedback:
    """The ratings of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._forgotten = Forgotten(client)

    def keep(
        self,
        question: Question,
        ending: Ending,
        person: str,
        at: datetime,
        verdict: Verdict,
        reason: Reason | None,
        deadline: Deadline,
    ) -> bool:
        """Store a rating that `person` gave at the time `at`.

        It is not stored if they have given a later one, or if the bot must forget the question. Returns
        whether it was stored. Raises Transient or Permanent.
        """
        fields = _fields(question, ending, at, verdict, reason if verdict == "down" else None)
        latest = True

        def edit(documents: list[Fields | None]) -> list[Fields | None]:
            nonlocal latest
            current, *tombstones = documents
            before = (current or {}).get("at")
            latest = not covers(tombstones, question) and (not isinstance(before, datetime) or before <= at)
            return [fields, *(None for _ in tombstones)] if latest else []

        references = [self._reference(question, person), *self._forgotten.references(question)]
        change_all(self._client, references, edit, deadline)
        return latest

    def _reference(self, question: Question, person: str) -> Any:
        name = hashlib.sha256(f"{question.id} {person}".encode()).hexdigest()[:40]
        return self._client.collection(COLLECTION).document(name)


def _fields(
    question: Question, ending: Ending, at: datetime, verdict: Verdict, reason: Reason | None
) -> Fields:
    return {
        "question_id": question.id,
        "reference": reference(question.id),
        "conversation": question.conversation,
        "space": question.space,
        "thread": question.thread,
        "again": ending.answer_number,
        "verdict": verdict,
        "reason": reason,
        "question": question.text,
        "search_query": ending.search_query,
        "sources": [source.id for source in ending.sources],
        "model": ending.model,
        "language": question.language,
        "asked_at": question.asked_at,
        "at": at,
        "expired_at": expiry(datetime.now(UTC), retention.FEEDBACK),
    }
