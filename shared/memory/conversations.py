"""The memory: one Firestore document a conversation, for as long as the history lasts (24 h).

`chat_threads/<resource name with _>`:
    conversation   resource name of the thread, or of the space of a direct message
    turns          [{role, text, timestamp, question_id, search_query?, sources?, again?}], in order of asking
    pending        [{question_id, text, timestamp}]: asked, not answered yet
    asked          [question_id]: the latest questions, whatever has become of them, so that all that is kept
                   for them can be found and forgotten
    updated_at, expired_at

The timestamp of both turns of a question is the time it was asked. Readers do not trust the document:
anything in it that is not of this shape is passed over.
"""

from datetime import UTC, datetime
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, document_id, expiry, read
from shared.memory.forgotten import Forgotten
from shared.memory.turns import Noted, asked_of, counting, entries, fitting, is_of, noted, size_of, turn_of
from shared.messages.envelope import Question, Turn
from shared.runtime.deadline import Deadline
from shared.runtime.retry import FIRESTORE_TURN

COLLECTION = "chat_threads"
#: More questions than anybody asks in five minutes; the oldest are forgotten first.
MOST_PENDING = 20
MOST_ASKED = 200
#: Firestore refuses a document above 1 MiB; the rest is left for field names and index entries.
MOST_BYTES = 900_000


class Conversations:
    """The conversations of one Firestore database; `hours` is how long one is remembered."""

    def __init__(self, client: Any, hours: float) -> None:
        self._client = client
        self._keep = retention.by_history(hours)
        self._forgotten = Forgotten(client)

    def known(self, conversation: str, deadline: Deadline) -> tuple[Turn, ...]:
        """All that is remembered of a conversation now, questions that wait for an answer included.

        Raises Transient or Permanent.
        """
        now = datetime.now(UTC)
        snapshot = read(self._document_of(conversation), deadline)
        turns, pending = self._remembered(snapshot.to_dict() if snapshot.exists else None, now)
        waiting = [{**entry, "role": "user"} for entry in counting(pending, now)]
        return tuple(filter(None, map(turn_of, [*turns, *waiting])))

    def drop(self, conversation: str, question_id: str, deadline: Deadline) -> None:
        """Forget one question of a conversation, and its answer. Raises Transient or Permanent."""

        def edit(current: Fields | None) -> Fields | None:
            if current is None:
                return None
            turns, pending = self._remembered(current, datetime.now(UTC))
            left = {
                "turns": [entry for entry in turns if entry["question_id"] != question_id],
                "pending": [entry for entry in pending if entry["question_id"] != question_id],
                "asked": [each for each in asked_of(current) if each != question_id],
            }
            return None if left == {name: current.get(name) for name in left} else {**current, **left}

        change(self._client, self._document_of(conversation), edit, deadline)

    def note_pending(self, question: Question, deadline: Deadline) -> Noted:
        """Note that a question was asked and return the history it was asked in.

        The same write dedupes: noting a question twice changes nothing. Raises Transient or Permanent.
        """
        now = datetime.now(UTC)
        seen: list[Noted] = []

        def edit(current: Fields | None) -> Fields | None:
            turns, pending = self._remembered(current, now)
            seen.append(noted(turns, pending, question, now))
            known = {entry["question_id"] for entry in (*turns, *pending)}
            if question.id in known:
                return None
            entry = {"question_id": question.id, "text": question.text, "timestamp": question.asked_at}
            asked = [*asked_of(current if turns or pending else None), question.id][-MOST_ASKED:]
            return {
                **self._document(question, turns, [*counting(pending, now), entry], now),
                "asked": asked,
            }

        change(self._client, self._reference(question), edit, deadline)
        return seen[-1]

    def history(self, question: Question, deadline: Deadline) -> tuple[Turn, ...]:
        """What had been said before a question was asked, as far as it is remembered.

        Raises Transient or Permanent.
        """
        now = datetime.now(UTC)
        snapshot = read(self._reference(question), deadline)
        turns, pending = self._remembered(snapshot.to_dict() if snapshot.exists else None, now)
        return noted(turns, pending, question, now).history

    def save_turn(
        self,
        question: Question,
        answer: str,
        deadline: Deadline,
        *,
        search_query: str,
        sources: list[str],
        answer_number: int = 0,
    ) -> None:
        """Save a question with its answer, once, in order of asking; not if it is forgotten by now.

        `answer_number` tells which answer it is (0 = first): a later one takes the place of an earlier one.
        Raises Transient or Permanent.
        """
        now = datetime.now(UTC)
        asked = {"question_id": question.id, "timestamp": question.asked_at}
        said: Fields = {**asked, "role": "assistant", "text": answer}
        said |= {
            "search_query": search_query,
            "sources": sources,
            **({"again": answer_number} if answer_number else {}),
        }
        turn: list[Fields] = [{**asked, "role": "user", "text": question.text}, said]

        def edit(current: Fields | None) -> Fields | None:
            turns, pending = self._remembered(current, now)
            if any(is_of(entry, question, since=answer_number) for entry in turns):
                return None
            turns = [entry for entry in turns if entry["question_id"] != question.id]
            waiting = [entry for entry in pending if entry["question_id"] != question.id]
            # Only what is not waited for (any more) may have been forgotten: most turns need no look.
            if waiting == pending and self._forgotten.covers(question, deadline):
                return None
            ordered = sorted([*turns, *turn], key=lambda entry: entry["timestamp"])
            return self._document(question, ordered, waiting, now)

        change(self._client, self._reference(question), edit, deadline, FIRESTORE_TURN)

    def drop_turn(self, question: Question, deadline: Deadline, *, answer_number: int) -> None:
        """Forget what a question was answered before the answer of this number: there is no answer any more.

        Raises Transient or Permanent.
        """
        now = datetime.now(UTC)

        def edit(current: Fields | None) -> Fields | None:
            turns, pending = self._remembered(current, now)
            kept = [entry for entry in turns if entry["question_id"] != question.id]
            if kept == turns or any(is_of(entry, question, since=answer_number) for entry in turns):
                return None
            return self._document(question, kept, pending, now)

        change(self._client, self._reference(question), edit, deadline, FIRESTORE_TURN)

    def _reference(self, question: Question) -> Any:
        return self._document_of(question.conversation)

    def _document_of(self, conversation: str) -> Any:
        return self._client.collection(COLLECTION).document(document_id(conversation))

    def _remembered(self, current: Fields | None, now: datetime) -> tuple[list[Fields], list[Fields]]:
        expired_at = (current or {}).get("expired_at")
        if current is None or not isinstance(expired_at, datetime) or expired_at <= now:
            return [], []
        return entries(current.get("turns"), "role"), entries(current.get("pending"))

    def _document(
        self, question: Question, turns: list[Fields], pending: list[Fields], now: datetime
    ) -> Fields:
        kept = pending[-MOST_PENDING:]
        return {
            "conversation": question.conversation,
            "turns": fitting(turns, MOST_BYTES - sum(map(size_of, kept))),
            "pending": kept,
            "updated_at": now,
            "expired_at": expiry(now, self._keep),
        }
