"""Save a question, show that it was heard, and send it on its way. Reply briefly to anything else."""

import contextvars
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from ingest_fn.auth import Verifier
from ingest_fn.clicks import clicked
from ingest_fn.commands import help_of, obey
from ingest_fn.forget import Forgetting
from ingest_fn.incoming import Incoming
from ingest_fn.notices import notice, say
from ingest_fn.openings import Openings
from ingest_fn.pace import Pace
from ingest_fn.publish import click_target, publish
from ingest_fn.settings import Settings
from shared.chat.cards import progress
from shared.chat.events import (
    Added,
    Asked,
    Clicked,
    Commanded,
    Ignored,
    Mentioned,
    Removed,
    understand,
)
from shared.chat.message import Chat
from shared.chat.places import Place
from shared.chat.progress import Progress
from shared.memory.conversations import Conversations
from shared.memory.failures import Failures
from shared.memory.feedback import Feedback
from shared.memory.forgotten import Forgotten
from shared.memory.records import Records
from shared.memory.turns import Noted
from shared.messages.envelope import Envelope, Question, Turn
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, in_one_line
from shared.runtime.outbox import Outbox

#: Seconds that the progress card may hold up the question; a slow card comes when it comes.
WAIT_FOR_CARD = 1.5
#: Seconds for reading and noting the history; without it the question still gets an answer.
WAIT_FOR_HISTORY = 4.0
#: A subscription to all that happens in a space sends these, and not to us.
_OTHER_EVENTS = "google.workspace."


@dataclass(frozen=True)
class Services:
    """What ingesting asks of the world. `background` posts progress cards."""

    verifier: Verifier
    outbox: Outbox
    chat: Chat
    conversations: Conversations
    openings: Openings
    failures: Failures
    pace: Pace
    forgetting: Forgetting
    forgotten: Forgotten
    records: Records
    progress: Progress
    feedback: Feedback
    settings: Settings
    background: ThreadPoolExecutor


def ingest(incoming: Incoming, services: Services, deadline: Deadline) -> None:
    """Handle one event of Chat; on return a question is safe on its topic.

    Raises Permanent for an event that cannot be understood, Transient when it could not be published, or not
    forgotten.
    """
    other = incoming.attributes.get("ce-type", "")
    if other.startswith(_OTHER_EVENTS):
        raise Permanent("event_unknown", f"{other} is no interaction with the bot")
    settings = services.settings
    event = understand(incoming.body, settings.commands, settings.languages)
    if isinstance(event, Ignored):
        logs.info("Event needs no answer", kind=event.kind)
    elif isinstance(event, Removed):
        # Nothing can be said there any more, and nothing need be kept.
        services.forgetting.conversation(event.place, event.place.space, deadline)
    elif not _allowed(event.place, settings):
        logs.warning("Not allowed here", space=event.place.space)
        notice(event.place, "not_allowed", services, deadline)
    else:
        _answer(event, incoming, services, deadline)


def _answer(
    event: Asked | Mentioned | Commanded | Added | Clicked,
    incoming: Incoming,
    services: Services,
    deadline: Deadline,
) -> None:
    match event:
        case Asked():
            with logs.context(question=event.question.id, trace=incoming.trace):
                _ask(event, incoming, services, deadline)
        case Mentioned(files=0):
            say(event.place, help_of(event.place, services.settings, "mention"), services, deadline)
        case Mentioned():
            notice(event.place, "files_alone", services, deadline)
        case Commanded():
            obey(event, services, deadline, click_target=click_target(incoming, services.settings))
        case Added():
            say(event.place, help_of(event.place, services.settings, "welcome"), services, deadline)
        case Clicked():
            clicked(event, incoming, services, deadline)


def _allowed(place: Place, settings: Settings) -> bool:
    """Whether the bot may be used there, and by this person: one whose domain is unknown may not."""
    domains, spaces = {each.lower() for each in settings.allowed_domains}, settings.allowed_spaces
    return (not domains or not domains.isdisjoint(each.lower() for each in place.domains)) and (
        not spaces or place.space in spaces or place.kind in spaces
    )


def _ask(event: Asked, incoming: Incoming, services: Services, deadline: Deadline) -> None:
    question, most = event.question, services.settings.longest_question
    if len(question.text) > most:
        notice(event.place, "too_long", services, deadline, length=len(question.text), most=most)
    elif not services.pace.allows(question, deadline):
        notice(event.place, "too_many", services, deadline, most=services.pace.most)
    elif _take(event, incoming, services, deadline) and event.files:
        notice(event.place, "files_too", services, deadline, beside=True)


def _take(event: Asked, incoming: Incoming, services: Services, deadline: Deadline) -> bool:
    """Send a question on its way; False when it was answered before."""
    question, started = event.question, time.monotonic()
    noted = _note(question, services, deadline)
    if noted.answered:
        logs.info("Sent again, but answered already")
        return False
    history = services.openings.before(event.place, question.conversation, noted.history, deadline)
    context = contextvars.copy_context()  # so that its log lines name the question, too
    card = services.background.submit(context.run, _show_progress, question, history, services, deadline)
    wait([card], timeout=WAIT_FOR_CARD)
    envelope = Envelope(
        trace=incoming.trace,
        question=question,
        history=history,
        click_target=click_target(incoming, services.settings),
    )
    publish(envelope, incoming, started, services, deadline)
    return True


def _note(question: Question, services: Services, deadline: Deadline) -> Noted:
    try:
        return services.conversations.note_pending(question, deadline.within(WAIT_FOR_HISTORY))
    except Exception as error:
        logs.error("History cannot be read; going on without it", error=in_one_line(error))
        return Noted()


def _show_progress(
    question: Question, history: tuple[Turn, ...], services: Services, deadline: Deadline
) -> None:
    # A question without history is searched for as it is, so the card can say so from the start.
    if history:
        card = progress(question.language, "understanding")
    else:
        card = progress(question.language, "searching", question.text)
    try:
        services.chat.post_progress(question, card, deadline)
    except Exception as error:
        logs.warning("Progress card was not posted", error=in_one_line(error))
