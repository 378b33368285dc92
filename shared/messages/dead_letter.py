"""Reads a message of the dead-letter topic: what it was, who sent it, and where it failed.

Anything can be a dead letter, even a message that our code did not send. `shared/chat/letters.py` reads
events of Chat as well. `shared/memory/cases.py` stores the letters.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import ValidationError

from shared.messages.envelope import Context, Envelope, Question
from shared.messages.names import document_id
from shared.pipeline import CHAT, pipeline
from shared.runtime.cloudevent import REPLAY_COUNT, received_attributes
from shared.runtime.errors import StepError

_SOURCE = "//threadwise/"
_OURS = "dead-letter-"
#: The headers that Pub/Sub adds when it forwards a message to the dead-letter topic itself.
_DELIVERIES = "cloudpubsubdeadlettersourcedeliverycount"
_SUBSCRIPTION = "cloudpubsubdeadlettersourcesubscription"


def reference(question_id: str) -> str:
    """The reference of a case that the asker gets: `TW-` and eight hexadecimal digits."""
    return "TW-" + hashlib.sha256(question_id.encode()).hexdigest()[:8].upper()


def unknown_id(data: bytes) -> str:
    """An id that replaces the question's id if the data names no question."""
    return "unknown_" + hashlib.sha256(data).hexdigest()[:32]


#: Finds the id in a body that was cut off. The question is near the start of an envelope, and begins with its
#: id.
_ID_IN_A_PART = re.compile(rb'"question":\s*{\s*"id":\s*"(spaces/[^"/\s]{1,200}/messages/[^"/\s]{1,200})"')

#: Reads an event of Chat. Returns the part that may be stored, and the question in it if there is one.
#: Returns None if it is not an event. The second argument means that the message must be an event.
ReadEvent = Callable[[bytes, bool], tuple[bytes, Question | None] | None]


def question_id_in(body: bytes) -> str | None:
    """The id of the question in an envelope of any version, complete or cut off. None for anything else."""
    if question := _question_alone(body):
        return question.id
    cut = _ID_IN_A_PART.search(body) if not _is_json(body) else None
    return cut[1].decode("utf-8", "replace") if cut else None


@dataclass(frozen=True)
class DeadLetter:
    """One message of the dead-letter topic.

    `data` is the message's data, without the tokens if it is an event of Chat (`from_chat`). `attributes` are
    the original ones, without those that were added when it became a dead letter. `deliveries` is Pub/Sub's
    count if Pub/Sub gave up on the message. `envelope` is the envelope in it, if it can be opened.
    """

    data: bytes
    from_chat: bool
    attributes: dict[str, str]
    message_id: str
    parked_by: str | None
    reason: str | None
    deliveries: int | None
    question: Question | None
    envelope: Envelope | None = None

    @classmethod
    def read(cls, headers: Mapping[str, str], body: bytes, read_event: ReadEvent) -> "DeadLetter":
        """Read an unwrapped push. Never fails: data that cannot be understood is kept unchanged."""
        lowered = {name.lower(): value for name, value in headers.items()}
        received = received_attributes(headers)
        envelope = _opened(body)
        question = envelope.question if envelope else _question_alone(body)
        parked_by = received.get("dead-letter-step")
        sent_on = pipeline().chat_events in lowered.get(_SUBSCRIPTION, "")
        must_be_event = parked_by == pipeline().first.name or sent_on
        event = None if question else read_event(body, must_be_event)
        return cls(
            data=event[0] if event else body,
            from_chat=event is not None,
            attributes={name: value for name, value in received.items() if not name.startswith(_OURS)},
            message_id=lowered.get("x-goog-pubsub-message-id", ""),
            parked_by=parked_by,
            reason=received.get("dead-letter-reason"),
            deliveries=_number(lowered.get(_DELIVERIES)),
            question=event[1] if event else question,
            envelope=envelope,
        )

    def said_after(self, forgotten_until: datetime | None) -> "DeadLetter":
        """The letter with only the turns of its history that are later than `forgotten_until`."""
        envelope = self.envelope
        if envelope is None or forgotten_until is None:
            return self
        history = tuple(turn for turn in envelope.history if turn.timestamp > forgotten_until)
        if history == envelope.history:
            return self
        envelope = envelope.model_copy(update={"history": history})
        return replace(self, data=envelope.to_bytes(), envelope=envelope)

    @property
    def contexts(self) -> tuple[Context, ...]:
        """The passages that had been found."""
        return (self.envelope.contexts or ()) if self.envelope else ()

    @property
    def answer_number(self) -> int:
        """The number of the answer that the letter was meant to give (0 = first)."""
        return self.envelope.answer_number if self.envelope else 0

    @property
    def sender(self) -> str | None:
        """The sender of the original message: a step, or Chat."""
        source = self.attributes.get("ce-source", "")
        if source.startswith(_SOURCE):
            return source.removeprefix(_SOURCE)
        return CHAT if self.from_chat else None

    @property
    def step(self) -> str | None:
        """Where it failed: the step that parked it, or else the step that takes the sender's messages."""
        taker = pipeline().takers.get(self.sender or "")
        return self.parked_by or (taker.name if taker else None)

    @property
    def replay(self) -> int:
        """The number of the replay that it comes from (0: it was never replayed)."""
        return _number(self.attributes.get(REPLAY_COUNT)) or 0

    @property
    def question_id(self) -> str:
        """The question's id, or an id in its place."""
        return self.question.id if self.question else unknown_id(self.data)

    @property
    def case_id(self) -> str:
        """The id of the case document for this letter and all its copies."""
        return document_id(self.question_id)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 7 else None


def _opened(body: bytes) -> Envelope | None:
    try:
        return Envelope.from_bytes(body)
    except StepError:
        return None


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _question_alone(body: bytes) -> Question | None:
    """The question in an envelope that cannot be opened, for example of another version."""
    try:
        return Question.model_validate(json.loads(body)["question"])
    except (ValueError, TypeError, KeyError, RecursionError, ValidationError):
        return None
