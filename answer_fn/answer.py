"""Answer the person's own words from what was found, post it, and remember it."""

from dataclasses import dataclass
from typing import Any

from answer_fn.compose import Clarification, Composed, compose
from answer_fn.deliver import deliver
from answer_fn.prompts import RagAnswer, config, prompt
from answer_fn.reply import ending_of
from shared.chat.message import Chat
from shared.chat.progress import Progress
from shared.memory.cases import Cases
from shared.memory.conversations import Conversations
from shared.memory.failures import Failures
from shared.memory.records import Records, Settled
from shared.messages.ending import Ending
from shared.messages.envelope import Envelope
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, in_one_line
from shared.runtime.gemini import generate
from shared.runtime.outbox import Outbox
from shared.runtime.retry import GEMINI_ANSWER

#: Seconds that must be left of the step for posting.
RESERVE_FOR_POSTING = 30.0
#: Seconds for the memory and the question's record: the answer is worth having without them. Longer than an
#: apology may be under way.
WAIT_FOR_MEMORY = 14.0


@dataclass(frozen=True)
class Services:
    """What answering asks of the world; `gemini` is a `genai.Client`."""

    outbox: Outbox
    failures: Failures
    progress: Progress
    chat: Chat
    records: Records
    conversations: Conversations
    cases: Cases
    gemini: Any
    model: str
    hours: float
    contact: str | None


def answer(envelope: Envelope, services: Services, deadline: Deadline) -> None:
    """Post the question's final message and save the turn; a redelivery posts the same one again.

    Raises Permanent or Transient when there is no answer, or when it could not be posted.
    """
    question = envelope.question
    settled = _settled(envelope, services, deadline)
    if settled is not None and settled.ending.is_replaced_by(envelope.answer_number):
        settled = None
    if settled is not None and (settled.posted or settled.answer_number > envelope.answer_number):
        logs.info("Answered already", answer_number=settled.answer_number)
        return
    if settled is None:
        composed = _composed(envelope, services, deadline)
        ending = ending_of(composed, envelope, services.hours, services.contact, services.model)
        settled = _settle(envelope, ending, services, deadline)
    deliver(question, settled, services, deadline)


def _composed(envelope: Envelope, services: Services, deadline: Deadline) -> Composed | Clarification | None:
    if envelope.contexts is None:
        raise Permanent("envelope_incomplete", "no contexts")
    if not envelope.contexts:  # nothing was found: the model could only make something up
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


def _settled(envelope: Envelope, services: Services, deadline: Deadline) -> Settled | None:
    try:
        return services.records.settled(envelope.question.id, deadline.within(WAIT_FOR_MEMORY))
    except Exception as error:
        logs.warning("The question's record cannot be read", error=in_one_line(error))
        return None


def _settle(envelope: Envelope, ending: Ending, services: Services, deadline: Deadline) -> Settled:
    try:
        return services.records.settle(envelope.question.id, ending, deadline.within(WAIT_FOR_MEMORY))
    except Exception as error:
        logs.error("The answer is not noted; posting it", error=in_one_line(error))
        return Settled(ending, posted=False)
