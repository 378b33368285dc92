"""Conversations: one Firestore document for each, kept as long as the history lasts (24 h by default).

`chat_threads/<resource name with _>`:
    conversation   resource name of the thread, or of the space if it is a direct message
    turns          [{role, text, timestamp, question_id, search_query?, sources?, again?}], in order of asking
    pending        [{question_id, text, timestamp, quote?}]: questions without an answer yet
    asked          [question_id]: the latest questions, answered or not, so that `/forget` can find and delete
                   everything that is stored for them
    updated_at, expired_at

The turns of a question have the time of the question as timestamp. If it quotes a message, that is its first
turn, with the role "quoted". Readers do not trust the document: they
skip anything that does not have this shape.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.memory import retention
from shared.memory.firestore import Fields, change, expiry, read
from shared.memory.turns import Past, asked_of, counting, entries, fitting, past_of, size_of, turn_of, waiting
from shared.messages.ending import REMEMBERED, Ending
from shared.messages.envelope import Question, Turn
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline

COLLECTION = "chat_threads"
#: More questions than anyone asks in five minutes. The oldest are removed first.
MOST_PENDING = 20
MOST_ASKED = 200
#: Firestore refuses a document above 1 MiB. The difference is for field names and index entries.
MOST_BYTES = 900_000


class Conversations:
    """The conversations of one Firestore database. Each is kept for `hours`."""

    def __init__(self, client: Any, hours: float) -> None:
        self._client = client
        self._keep = retention.by_history(hours)

    def known(self, conversation: str, deadline: Deadline) -> tuple[Turn, ...]:
        """All stored turns of a conversation, including questions that wait for an answer.

        Raises Transient or Permanent.
        """
        return known_in(read(self.reference(conversation), deadline).to_dict(), datetime.now(UTC))

    def history(self, question: Question, deadline: Deadline) -> tuple[Turn, ...]:
        """The history of a question: the stored turns from before it was asked.

        Raises Transient or Permanent.
        """
        snapshot = read(self.reference(question.conversation), deadline)
        return history_in(snapshot.to_dict(), question, datetime.now(UTC)).history

    def drop(self, conversation: str, question_id: str, deadline: Deadline) -> None:
        """Delete one question of a conversation, and its answer. Raises Transient or Permanent."""

        def edit(current: Fields | None) -> Fields | None:
            if current is None:
                return None
            turns, pending = _remembered(current, datetime.now(UTC))
            left = {
                "turns": _without(turns, question_id),
                "pending": _without(pending, question_id),
                "asked": [each for each in asked_of(current) if each != question_id],
            }
            return None if left == {name: current.get(name) for name in left} else {**current, **left}

        change(self._client, self.reference(conversation), edit, deadline)

    def forget(self, conversation: str, until: datetime, kept: Collection[str], deadline: Deadline) -> None:
        """Delete everything that was asked until a time, except the questions `kept`.

        Raises Transient or Permanent.
        """

        def edit(current: Fields | None) -> Fields | None:
            if current is None:
                return None
            left = {
                part: [
                    entry
                    for entry in entries(current.get(part), *needed)
                    if entry["timestamp"] > until or entry["question_id"] in kept
                ]
                for part, needed in (("turns", ["role"]), ("pending", []))
            }
            asked = [each for each in asked_of(current) if each in kept]
            return {**left, "asked": asked} if any((*left.values(), asked)) else {}

        change(self._client, self.reference(conversation), edit, deadline)

    def reference(self, conversation: str) -> Any:
        """The document of a conversation."""
        return self._client.collection(COLLECTION).document(document_id(conversation))

    def with_pending(self, current: Fields | None, question: Question, now: datetime) -> Fields | None:
        """The fields of a conversation with a new pending question. None if the question is in it already."""
        turns, pending = _remembered(current, now)
        if any(entry["question_id"] == question.id for entry in (*turns, *pending)):
            return None
        entry = {"question_id": question.id, "text": question.text, "timestamp": question.asked_at}
        if question.quote:
            entry["quote"] = question.quote
        asked = [*asked_of(_unexpired(current, now)), question.id][-MOST_ASKED:]
        listed = [*counting(pending, now), entry]
        return {**_document(question, turns, listed, now, self._keep), "asked": asked}


def known_in(current: Fields | None, now: datetime) -> tuple[Turn, ...]:
    """All turns in the fields of a conversation, including questions that wait for an answer."""
    turns, pending = _remembered(current, now)
    return tuple(filter(None, map(turn_of, [*turns, *waiting(pending, now)])))


def history_in(current: Fields | None, question: Question, now: datetime) -> Past:
    """What the fields of a conversation say about the time before a question."""
    return past_of(*_remembered(current, now), question, now)


def with_ending(
    current: Fields | None, question: Question, ending: Ending, now: datetime, keep: timedelta
) -> Fields | None:
    """The fields of a conversation after the ending of a question. None if nothing changes.

    An answer or a question back is stored with its question, in order of asking, and replaces an earlier one.
    Other endings are not stored. The question is no longer pending.
    """
    turns, pending = _remembered(current, now)
    others, left = _without(turns, question.id), _without(pending, question.id)
    if ending.kind in REMEMBERED:
        others = sorted([*others, *_turn(question, ending)], key=lambda entry: entry["timestamp"])
    elif (others, left) == (turns, pending):
        return None
    return _document(question, others, left, now, keep)


def _turn(question: Question, ending: Ending) -> list[Fields]:
    asked = {"question_id": question.id, "timestamp": question.asked_at}
    said: Fields = {
        **asked,
        "role": "assistant",
        "text": ending.plain,
        "search_query": ending.search_query,
        "sources": [source.id for source in ending.sources],
        **({"again": ending.answer_number} if ending.answer_number else {}),
    }
    before = [{**asked, "role": "quoted", "text": question.quote}] if question.quote else []
    return [*before, {**asked, "role": "user", "text": question.text}, said]


def _without(listed: list[Fields], question_id: str) -> list[Fields]:
    return [entry for entry in listed if entry["question_id"] != question_id]


def _remembered(current: Fields | None, now: datetime) -> tuple[list[Fields], list[Fields]]:
    kept = _unexpired(current, now)
    return entries(kept.get("turns"), "role"), entries(kept.get("pending"))


def _unexpired(current: Fields | None, now: datetime) -> Fields:
    expired_at = (current or {}).get("expired_at")
    return current if current and isinstance(expired_at, datetime) and expired_at > now else {}


def _document(
    question: Question, turns: list[Fields], pending: list[Fields], now: datetime, keep: timedelta
) -> Fields:
    kept = pending[-MOST_PENDING:]
    return {
        "conversation": question.conversation,
        "turns": fitting(turns, MOST_BYTES - sum(map(size_of, kept))),
        "pending": kept,
        "updated_at": now,
        "expired_at": expiry(now, keep),
    }
