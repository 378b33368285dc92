"""Dead letters as operators work on them: one case a question, however many copies Pub/Sub delivers.

`dead_letters/<question id with _>`: question_id, reference, space, thread, language, sender, step, reason,
error, data, bytes, attributes, message_ids, copies, told, first_at, last_at, expired_at. `sender` is the step
that sent the message: its topic is where a replay goes. `attributes` are the original ones.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from shared.cloudevent import received_attributes
from shared.deadline import Deadline
from shared.envelope import Context, Envelope, Question
from shared.errors import StepError
from shared.firestore import Fields, change, document_id, expiry

COLLECTION = "dead_letters"
#: As long as Pub/Sub can keep a message.
KEEP = timedelta(days=31)
#: Who takes what a step sends.
TAKER = {"ingest": "reformulate", "reformulate": "retrieve", "retrieve": "answer"}
MOST_BYTES = 900_000
#: Enough to recognise copies; a message that keeps coming back must not fill the document.
MOST_MESSAGE_IDS = 50
NO_RECORD = "no_failure_record"

_SOURCE = "//threadwise/"
_OURS = "dead-letter-"


def reference(question_id: str) -> str:
    """What the asker is given to name the case by: `TW-` and eight hexadecimal digits."""
    return "TW-" + hashlib.sha256(question_id.encode()).hexdigest()[:8].upper()


@dataclass(frozen=True)
class DeadLetter:
    """One message of the dead-letter topic; anything can be one, also what no code of ours has sent."""

    data: bytes
    attributes: dict[str, str]
    message_id: str
    parked_by: str | None
    reason: str | None
    question: Question | None
    contexts: tuple[Context, ...]

    @classmethod
    def from_push(cls, headers: Mapping[str, str], body: bytes) -> "DeadLetter":
        """Read an unwrapped push. Never fails: what cannot be understood is kept as it is."""
        lowered = {name.lower(): value for name, value in headers.items()}
        received = received_attributes(headers)
        question, contexts = _understood(body)
        return cls(
            data=body,
            attributes={name: value for name, value in received.items() if not name.startswith(_OURS)},
            message_id=lowered.get("x-goog-pubsub-message-id", ""),
            parked_by=received.get("dead-letter-step"),
            reason=received.get("dead-letter-reason"),
            question=question,
            contexts=contexts,
        )

    @property
    def sender(self) -> str | None:
        """The step that sent the message before it died."""
        source = self.attributes.get("ce-source", "")
        return source.removeprefix(_SOURCE) if source.startswith(_SOURCE) else None

    @property
    def step(self) -> str | None:
        """Where it failed: the step that parked it, or else the one that takes what the sender sends."""
        return self.parked_by or TAKER.get(self.sender or "")

    @property
    def case_id(self) -> str:
        """The document that this letter and all its copies belong to."""
        if self.question is not None:
            return document_id(self.question.id)
        return "unknown_" + hashlib.sha256(self.data).hexdigest()[:32]


class DeadLetters:
    """The cases of one Firestore database."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def store(self, letter: DeadLetter, failure: Fields | None, deadline: Deadline) -> Fields:
        """Keep a letter, or count it as a copy; returns the case. Raises Transient or Permanent."""
        now = datetime.now(UTC)

        def edit(current: Fields | None) -> Fields | None:
            case = _case(letter, failure, now)
            return case if current is None else _with_copy(case, current, letter)

        return change(self._client, self._reference(letter), edit, deadline) or {}

    def mark_told(self, letter: DeadLetter, deadline: Deadline) -> None:
        """Note that the asker knows. Raises Transient or Permanent."""
        change(
            self._client,
            self._reference(letter),
            lambda current: None if current is None or current.get("told") else {"told": True},
            deadline,
        )

    def _reference(self, letter: DeadLetter) -> Any:
        return self._client.collection(COLLECTION).document(letter.case_id)


def _case(letter: DeadLetter, failure: Fields | None, now: datetime) -> Fields:
    question = letter.question
    return {
        "question_id": question.id if question else None,
        "reference": reference(question.id if question else letter.case_id),
        "space": question.space if question else None,
        "thread": question.thread if question else None,
        "language": question.language if question else None,
        "sender": letter.sender,
        # Firestore refuses more than 1 MiB: the bytes are then in the backup subscription alone.
        "data": letter.data if len(letter.data) <= MOST_BYTES else None,
        "bytes": len(letter.data),
        "attributes": letter.attributes,
        **_failed(letter, failure),
        "copies": 1,
        "message_ids": [letter.message_id],
        "told": False,
        "first_at": now,
        "last_at": now,
        "expired_at": expiry(now, KEEP),
    }


def _with_copy(case: Fields, current: Fields, letter: DeadLetter) -> Fields | None:
    """The case with what is known of it already, if that has the right shape; None for a known copy."""
    seen = current.get("message_ids")
    known = [entry for entry in seen if isinstance(entry, str)] if isinstance(seen, list) else []
    if letter.message_id in known and current.get("data") == case["data"]:
        return None
    copies = current.get("copies")
    kept = {
        name: current[name]
        for name, kind in {"first_at": datetime, "told": bool}.items()
        if isinstance(current.get(name), kind)
    }
    if case["reason"] == NO_RECORD and isinstance(current.get("reason"), str):
        kept |= {"reason": current["reason"], "error": current.get("error")}
    return {
        **case,
        **kept,
        "copies": (copies if isinstance(copies, int) else 0) + 1,
        "message_ids": [*known, letter.message_id][-MOST_MESSAGE_IDS:],
    }


def _failed(letter: DeadLetter, failure: Fields | None) -> Fields:
    recorded = failure or {}
    return {
        "step": letter.step,
        "reason": letter.reason or recorded.get("reason") or NO_RECORD,
        "error": recorded.get("error"),
    }


def _understood(body: bytes) -> tuple[Question | None, tuple[Context, ...]]:
    """The question, also out of an envelope that is otherwise unreadable, such as one of another version."""
    try:
        envelope = Envelope.from_bytes(body)
    except StepError:
        return _question_alone(body), ()
    return envelope.question, envelope.contexts or ()


def _question_alone(body: bytes) -> Question | None:
    try:
        return Question.model_validate(json.loads(body)["question"])
    except (ValueError, TypeError, KeyError, RecursionError, ValidationError):
        return None
