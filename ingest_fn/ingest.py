"""Note a question, show that it was heard, and send it on its way."""

import contextvars
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from ingest_fn.auth import Verifier
from ingest_fn.events import Asked, Mentioned, understand
from shared import logs
from shared.cards import progress
from shared.chat import Chat, Content
from shared.cloudevent import message, passed_on
from shared.conversations import Conversations, Noted
from shared.deadline import Deadline
from shared.envelope import Envelope, Question
from shared.errors import in_one_line
from shared.failures import Failures
from shared.outbox import Outbox
from shared.texts import text

STEP = "ingest"
#: Seconds that the progress card may hold up the question; a slow card comes when it comes.
WAIT_FOR_CARD = 1.5
#: Seconds for reading and noting the history; without it the question still gets an answer.
WAIT_FOR_HISTORY = 4.0


@dataclass(frozen=True)
class Services:
    """What ingesting asks of the world. `background` posts progress cards."""

    verifier: Verifier
    outbox: Outbox
    chat: Chat
    conversations: Conversations
    publishes_to: str
    failures: Failures
    background: ThreadPoolExecutor


def ingest(body: bytes, trace: str, services: Services, deadline: Deadline) -> None:
    """Handle one event of Chat; on return the question is safe on its topic.

    Raises Permanent for an event that cannot be understood, Transient when it could not be published.
    """
    event = understand(body)
    if isinstance(event, Asked):
        with logs.context(question=event.question.id, trace=trace):
            _ask(event.question, trace, services, deadline)
    elif isinstance(event, Mentioned):
        help_text = text(event.question.language, "help", "mention")
        services.chat.say(event.question, Content(help_text), deadline)
    else:
        logs.info("Event needs no answer", kind=event.kind)


def _ask(question: Question, trace: str, services: Services, deadline: Deadline) -> None:
    started = time.monotonic()
    noted = _note(question, services, deadline)
    if noted.answered:
        logs.info("Sent again by Chat, but answered already")
        return
    context = contextvars.copy_context()  # so that its log lines name the question, too
    card = services.background.submit(context.run, _show_progress, question, noted, services, deadline)
    wait([card], timeout=WAIT_FOR_CARD)
    envelope = Envelope(trace=trace, question=question, history=noted.history)
    inherited = passed_on({}, STEP, time.monotonic() - started)
    follow_up = message(
        envelope.to_bytes(), question_id=question.id, step=STEP, trace=trace, inherited=inherited
    )
    services.outbox.send(services.publishes_to, follow_up, deadline)
    logs.info("Question published", turns_of_history=len(noted.history))


def _note(question: Question, services: Services, deadline: Deadline) -> Noted:
    try:
        return services.conversations.note_pending(question, deadline.within(WAIT_FOR_HISTORY))
    except Exception as error:
        logs.error("History cannot be read; going on without it", error=in_one_line(error))
        return Noted()


def _show_progress(question: Question, noted: Noted, services: Services, deadline: Deadline) -> None:
    # A question without history is searched for as it is, so the card can say so from the start.
    if noted.history:
        card = progress(question.language, "understanding")
    else:
        card = progress(question.language, "searching", question.text)
    try:
        services.chat.post_progress(question, card, deadline)
    except Exception as error:
        logs.warning("Progress card was not posted", error=in_one_line(error))
