"""The memory: one Firestore document a conversation, for as long as the history lasts (24 h).

`chat_threads/<resource name with _>`:
    conversation   resource name of the thread, or of the space of a direct message
    turns          [{role, text, timestamp, question_id, search_query?, sources?}], in order of asking
    pending        [{question_id, text, timestamp}]: asked, not answered yet
    asked          [question_id]: the latest questions, whatever has become of them, so that all that is kept
                   for them can be found and forgotten
    updated_at, expired_at

The timestamp of both turns of a question is the time it was asked. Readers do not trust the document:
anything in it that is not of this shape is passed over.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from shared.deadline import Deadline
from shared.envelope import Question, Turn
from shared.firestore import Fields, change, document_id, expiry, read
from shared.forgotten import Forgotten

COLLECTION = "chat_threads"
#: A question that was not answered for this long no longer counts when the next one is rewritten.
PENDING_COUNTS_FOR = timedelta(minutes=5)
#: More questions than anybody asks in five minutes; the oldest are forgotten first.
MOST_PENDING = 20
MOST_ASKED = 200
#: Firestore refuses a document above 1 MiB; the rest is left for field names and index entries.
MOST_BYTES = 900_000
#: A turn is worth waiting for: the attempts are bounded by the deadline that is given.
SAVE_ATTEMPTS = 12
#: What a prompt may hold of the history, in characters, newest first: the cost of a turn stays flat.
PROMPT_CHARACTERS = 8_000


@dataclass(frozen=True)
class Noted:
    """What was remembered when a question came in: the history without it; was it answered already?"""

    history: tuple[Turn, ...] = ()
    answered: bool = False


class Conversations:
    """The conversations of one Firestore database; `hours` is how long one is remembered."""

    def __init__(self, client: Any, hours: float) -> None:
        self._client = client
        self._keep = timedelta(hours=hours)
        self._forgotten = Forgotten(client)

    def known(self, conversation: str, deadline: Deadline) -> tuple[Turn, ...]:
        """All that is remembered of a conversation now, questions that wait for an answer included.

        Raises Transient or Permanent.
        """
        now = datetime.now(UTC)
        snapshot = read(self._document_of(conversation), deadline)
        turns, pending = self._remembered(snapshot.to_dict() if snapshot.exists else None, now)
        waiting = [{**entry, "role": "user"} for entry in _counting(pending, now)]
        return tuple(filter(None, map(_turn, [*turns, *waiting])))

    def drop(self, conversation: str, question_id: str, deadline: Deadline) -> None:
        """Forget one question of a conversation, and its answer. Raises Transient or Permanent."""

        def edit(current: Fields | None) -> Fields | None:
            if current is None:
                return None
            turns, pending = self._remembered(current, datetime.now(UTC))
            left = {
                "turns": [entry for entry in turns if entry["question_id"] != question_id],
                "pending": [entry for entry in pending if entry["question_id"] != question_id],
                "asked": [each for each in _asked(current) if each != question_id],
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
            seen.append(_noted(turns, pending, question, now))
            known = {entry["question_id"] for entry in (*turns, *pending)}
            if question.id in known:
                return None
            entry = {"question_id": question.id, "text": question.text, "timestamp": question.asked_at}
            asked = [*_asked(current if turns or pending else None), question.id][-MOST_ASKED:]
            return {
                **self._document(question, turns, [*_counting(pending, now), entry], now),
                "asked": asked,
            }

        change(self._client, self._reference(question), edit, deadline)
        return seen[-1]

    def save_turn(
        self, question: Question, answer: str, deadline: Deadline, *, search_query: str, sources: list[str]
    ) -> None:
        """Save a question with its answer, once, in order of asking; not if it is forgotten by now.

        Raises Transient or Permanent.
        """
        now = datetime.now(UTC)
        asked = {"question_id": question.id, "timestamp": question.asked_at}
        turn: list[Fields] = [
            {**asked, "role": "user", "text": question.text},
            {**asked, "role": "assistant", "text": answer, "search_query": search_query, "sources": sources},
        ]

        def edit(current: Fields | None) -> Fields | None:
            turns, pending = self._remembered(current, now)
            if any(entry["question_id"] == question.id for entry in turns):
                return None
            waiting = [entry for entry in pending if entry["question_id"] != question.id]
            # Only what is not waited for (any more) may have been forgotten: most turns need no look.
            if waiting == pending and self._forgotten.covers(question, deadline):
                return None
            ordered = sorted([*turns, *turn], key=lambda entry: entry["timestamp"])
            return self._document(question, ordered, waiting, now)

        change(self._client, self._reference(question), edit, deadline, attempts=SAVE_ATTEMPTS)

    def _reference(self, question: Question) -> Any:
        return self._document_of(question.conversation)

    def _document_of(self, conversation: str) -> Any:
        return self._client.collection(COLLECTION).document(document_id(conversation))

    def _remembered(self, current: Fields | None, now: datetime) -> tuple[list[Fields], list[Fields]]:
        expired_at = (current or {}).get("expired_at")
        if current is None or not isinstance(expired_at, datetime) or expired_at <= now:
            return [], []
        return _entries(current.get("turns"), "role"), _entries(current.get("pending"))

    def _document(
        self, question: Question, turns: list[Fields], pending: list[Fields], now: datetime
    ) -> Fields:
        kept = pending[-MOST_PENDING:]
        return {
            "conversation": question.conversation,
            "turns": _fitting(turns, MOST_BYTES - sum(map(_bytes, kept))),
            "pending": kept,
            "updated_at": now,
            "expired_at": expiry(now, self._keep),
        }


def _entries(value: Any, *needed: str) -> list[Fields]:
    """The well-formed entries of a list that may hold anything."""
    fields = {"text": str, "question_id": str, "timestamp": datetime, **dict.fromkeys(needed, str)}
    return [
        entry
        for entry in (value if isinstance(value, list) else [])
        if isinstance(entry, dict) and all(isinstance(entry.get(name), kind) for name, kind in fields.items())
    ]


def _asked(current: Fields | None) -> list[str]:
    listed = (current or {}).get("asked")
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def _counting(pending: Iterable[Fields], now: datetime) -> list[Fields]:
    return [entry for entry in pending if now - entry["timestamp"] < PENDING_COUNTS_FOR]


def _noted(turns: list[Fields], pending: list[Fields], question: Question, now: datetime) -> Noted:
    answered = any(entry["question_id"] == question.id for entry in turns)
    waiting = [{**entry, "role": "user"} for entry in _counting(pending, now)]
    others = [
        entry
        for entry in (*turns, *waiting)
        # What was asked after it is not its history, though it may have been answered before it came here.
        if entry["question_id"] != question.id and entry["timestamp"] <= question.asked_at
    ]
    return Noted(history_of(filter(None, map(_turn, others))), answered)


def history_of(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The turns in order of time, as many of the newest as a prompt may hold."""
    return _newest(sorted(turns, key=lambda turn: turn.timestamp))


def _turn(entry: Fields) -> Turn | None:
    try:
        return Turn.model_validate({name: entry[name] for name in Turn.model_fields})
    except ValidationError:
        return None


def _newest(history: list[Turn]) -> tuple[Turn, ...]:
    kept: list[Turn] = []
    left = PROMPT_CHARACTERS
    for turn in reversed(history):
        left -= len(turn.text)
        if left < 0 and kept:
            break
        kept.append(turn if left >= 0 else turn.model_copy(update={"text": turn.text[:PROMPT_CHARACTERS]}))
    return tuple(reversed(kept))


def _fitting(turns: list[Fields], most_bytes: int) -> list[Fields]:
    """The newest turns that fit into so many bytes, whole questions only: the oldest go first."""
    size = 0
    for position in range(len(turns) - 1, -1, -1):
        size += _bytes(turns[position])
        if size > most_bytes:
            oldest_kept = turns[position]["question_id"]
            return [turn for turn in turns[position + 1 :] if turn["question_id"] != oldest_kept]
    return turns


def _bytes(turn: Fields) -> int:
    # 200: names, timestamp and role, generously; Firestore counts UTF-8 bytes.
    return 200 + sum(len(str(value).encode("utf-8", "replace")) for value in turn.values())
