"""Reads the turns and pending questions in a conversation's document, without trusting it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from shared.memory.firestore import Fields
from shared.messages.envelope import Question, Turn

#: A pending question that is older than this is not part of the history of the next one.
PENDING_COUNTS_FOR = timedelta(minutes=5)
#: Most characters of the history in a prompt. The newest turns are kept, so the cost of a turn stays flat.
PROMPT_CHARACTERS = 8_000


@dataclass(frozen=True)
class Past:
    """What is stored when a question is registered: its history, and whether it has an answer already."""

    history: tuple[Turn, ...] = ()
    answered: bool = False


def entries(value: Any, *needed: str) -> list[Fields]:
    """The well-formed entries of a list that may contain anything."""
    fields = {"text": str, "question_id": str, "timestamp": datetime, **dict.fromkeys(needed, str)}
    return [
        entry
        for entry in (value if isinstance(value, list) else [])
        if isinstance(entry, dict) and all(isinstance(entry.get(name), kind) for name, kind in fields.items())
    ]


def asked_of(current: Fields) -> list[str]:
    """The ids in the field `asked` of a document."""
    listed = current.get("asked")
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def counting(pending: Iterable[Fields], now: datetime) -> list[Fields]:
    """The pending questions that are new enough to be part of the history."""
    return [entry for entry in pending if now - entry["timestamp"] < PENDING_COUNTS_FOR]


def waiting(pending: Iterable[Fields], now: datetime) -> Iterator[Fields]:
    """The turns of the pending questions that count, each after the message that it quotes."""
    for entry in counting(pending, now):
        if isinstance(quote := entry.get("quote"), str):
            yield {**entry, "role": "quoted", "text": quote}
        yield {**entry, "role": "user"}


def quoted(question: Question) -> tuple[Turn, ...]:
    """The message that a question quotes, as the last turn of its history. Empty if it quotes none."""
    if not question.quote:
        return ()
    at, said = question.asked_at, question.quote
    return (Turn(role="quoted", text=said, timestamp=at, question_id=question.id),)


def past_of(turns: list[Fields], pending: list[Fields], question: Question, now: datetime) -> Past:
    """The history of a question, from the stored turns and pending questions."""
    answered = any(entry["question_id"] == question.id for entry in turns)
    others = [
        entry
        for entry in (*turns, *waiting(pending, now))
        # A later question is not part of the history, even if it was answered first.
        if entry["question_id"] != question.id and entry["timestamp"] <= question.asked_at
    ]
    return Past(history_of(filter(None, map(turn_of, others))), answered)


def history_of(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The newest turns that fit into a prompt, in order of time."""
    return _newest(sorted(turns, key=lambda turn: turn.timestamp))


def turn_of(entry: Fields) -> Turn | None:
    """The turn for an envelope that an entry describes. None if the entry is malformed."""
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


def fitting(turns: list[Fields], most_bytes: int) -> list[Fields]:
    """The newest turns that fit into `most_bytes`. A question is kept with all its turns or not at all."""
    size = 0
    for position in range(len(turns) - 1, -1, -1):
        size += size_of(turns[position])
        if size > most_bytes:
            oldest_kept = turns[position]["question_id"]
            return [turn for turn in turns[position + 1 :] if turn["question_id"] != oldest_kept]
    return turns


def size_of(turn: Fields) -> int:
    """An upper bound of an entry's bytes in Firestore: UTF-8, and 200 for names and the rest."""
    return 200 + sum(len(str(value).encode("utf-8", "replace")) for value in turn.values())
