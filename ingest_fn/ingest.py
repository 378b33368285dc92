"""Registers a question, publishes it, and shows the progress card. Replies briefly to anything else."""

import time
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
from ingest_fn.register import Outcome, Register, Registered
from ingest_fn.settings import Settings
from shared.chat.cards import progress
from shared.chat.display import Display
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
from shared.memory.conversations import Conversations
from shared.memory.failures import Failures
from shared.memory.feedback import Feedback
from shared.memory.forgotten import Forgotten
from shared.memory.records import Records
from shared.messages.envelope import Envelope, Question, Turn
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, in_one_line
from shared.runtime.outbox import Outbox

#: Seconds for posting the progress card. Chat waits meanwhile; the question is already published.
WAIT_FOR_CARD = 3.0
#: The types of Workspace Events. A subscription to a space sends them; they are not for this function.
_OTHER_EVENTS = "google.workspace."


@dataclass(frozen=True)
class Services:
    """What ingesting needs from outside."""

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
    register: Register
    display: Display
    feedback: Feedback
    settings: Settings


def ingest(incoming: Incoming, services: Services, deadline: Deadline) -> None:
    """Handle one event of Chat. When this returns, a question is stored on its topic.

    Raises Permanent for an event that cannot be understood. Raises Transient when a question could not be
    published, or its asker could not be told why not, or a conversation could not be forgotten.
    """
    other = incoming.attributes.get("ce-type", "")
    if other.startswith(_OTHER_EVENTS):
        raise Permanent("event_unknown", f"{other} is not an interaction with the bot")
    settings = services.settings
    event = understand(incoming.body, settings.commands, settings.languages)
    if isinstance(event, Ignored):
        logs.info("Event needs no answer", kind=event.kind)
    elif isinstance(event, Removed):
        # The bot can no longer post there, and needs to keep nothing.
        services.forgetting.conversation(event.place, event.place.space, deadline)
    elif not _allowed(event.place, settings):
        logs.warning("Use of the bot is not allowed here", space=event.place.space)
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
    """Whether this person may use the bot in this space. If domains are set, theirs must be known."""
    domains, spaces = {each.lower() for each in settings.allowed_domains}, settings.allowed_spaces
    return (not domains or not domains.isdisjoint(each.lower() for each in place.domains)) and (
        not spaces or place.space in spaces or place.kind in spaces
    )


def _ask(event: Asked, incoming: Incoming, services: Services, deadline: Deadline) -> None:
    question, most = event.question, services.settings.longest_question
    if len(question.text) > most:
        length = len(question.text)
        notice(event.place, "too_long", services, deadline, needed=True, length=length, most=most)
        return
    started, registered = time.monotonic(), services.register.add(event.place, question, deadline)
    if registered.outcome == Outcome.TOO_MANY:
        notice(event.place, "too_many", services, deadline, needed=True, most=services.pace.most)
    elif registered.outcome == Outcome.UNCLEAR:
        hours = f"{services.settings.history_hours:g}"
        notice(event.place, "unclear", services, deadline, needed=True, hours=hours)
    elif registered.outcome != Outcome.GO_ON:
        logs.info("The event was sent again", outcome=registered.outcome.name.lower())
    else:
        _send(event, registered, incoming, started, services, deadline)
        if event.files:
            notice(event.place, "files_too", services, deadline, beside=True)


def _send(
    event: Asked,
    registered: Registered,
    incoming: Incoming,
    started: float,
    services: Services,
    deadline: Deadline,
) -> None:
    """Publish a question, then show the progress card, so that Chat cannot delay the question."""
    question, known = event.question, registered.of_space
    history = services.openings.before(event.place, question, registered.history, deadline, known)
    envelope = Envelope(
        trace=incoming.trace,
        question=question,
        history=history,
        click_target=click_target(incoming, services.settings),
    )
    publish(envelope, incoming, started, services, deadline)
    _show_progress(question, history, services, deadline.within(WAIT_FOR_CARD))


def _show_progress(
    question: Question, history: tuple[Turn, ...], services: Services, deadline: Deadline
) -> None:
    # A question without history needs no rewrite, so the card starts with the search.
    if history:
        card = progress(question.language, "understanding")
    else:
        card = progress(question.language, "searching", question.text)
    try:
        services.chat.post_progress(question, card, deadline)
    except Exception as error:
        logs.warning("The progress card was not posted", error=in_one_line(error))
