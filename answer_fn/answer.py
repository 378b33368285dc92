"""Answers the asker's own words from the passages, records the answer, and posts it."""

from dataclasses import dataclass
from typing import Any

from answer_fn.compose import Clarification, Composed, compose
from answer_fn.deliver import deliver
from answer_fn.prompts import RagAnswer, config, prompt
from answer_fn.reply import ending_of
from shared.chat.display import Display
from shared.chat.message import Chat
from shared.memory.failures import Failures
from shared.memory.records import Records
from shared.messages.ending import ANSWERED
from shared.messages.envelope import Envelope
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent
from shared.runtime.gemini import generate
from shared.runtime.outbox import Outbox
from shared.runtime.retry import GEMINI_ANSWER

#: Seconds of the step that are reserved for posting.
RESERVE_FOR_POSTING = 30.0
#: Seconds for reading the current ending, and for the commit that records the new one.
WAIT_FOR_MEMORY = 14.0
WAIT_FOR_RECORDING = 40.0


@dataclass(frozen=True)
class Services:
    """What answering needs from outside; `gemini` is a `genai.Client`."""

    outbox: Outbox
    failures: Failures
    display: Display
    chat: Chat
    records: Records
    gemini: Any
    model: str
    hours: float
    contact: str | None


def answer(envelope: Envelope, services: Services, deadline: Deadline) -> None:
    """Record the question's ending, then post it. A redelivery posts the recorded ending again.

    Raises Permanent or Transient if there is no answer, or if it could not be recorded or posted.
    """
    question = envelope.question
    begun = services.records.begin(question, deadline.within(WAIT_FOR_MEMORY))
    standing = begun.standing
    if standing.rank is None or standing.rank < (envelope.answer_number, ANSWERED):
        composed = _composed(envelope, services, deadline)
        ending = ending_of(composed, envelope, services.hours, services.contact, services.model)
        standing = services.records.end(question, ending, deadline.within(WAIT_FOR_RECORDING), begun)
    deliver(question, standing, services, deadline)


def _composed(envelope: Envelope, services: Services, deadline: Deadline) -> Composed | Clarification | None:
    if envelope.contexts is None:
        raise Permanent("envelope_incomplete", "no contexts")
    if not envelope.contexts:  # no passages: the model could only invent an answer
        return None
    response = generate(
        services.gemini,
        model=services.model,
        prompt=prompt(envelope),
        config=config(),
        parse=RagAnswer.model_validate_json,
        policy=GEMINI_ANSWER,
        deadline=deadline.within(max(deadline.remaining - RESERVE_FOR_POSTING, deadline.remaining / 2)),
    )
    return compose(response, envelope.contexts)
