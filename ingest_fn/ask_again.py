"""Answers a question again when the asker clicks "Not what I meant" or "Try again".

The new answer replaces the current text of the message. It gets the next number (`again`). The number depends
on the answer that the button belongs to, so a double click, or a click that is sent twice, gives one answer.
"""

import time
from datetime import UTC, datetime
from typing import Protocol

from ingest_fn import about, publish
from ingest_fn.incoming import Incoming
from ingest_fn.notices import notice
from ingest_fn.openings import Openings
from ingest_fn.pace import Pace
from shared.chat.buttons import MOST_AGAIN
from shared.chat.cards import progress
from shared.chat.display import Display
from shared.chat.events import Clicked
from shared.chat.message import Chat
from shared.chat.places import Place
from shared.memory.conversations import Conversations
from shared.memory.records import Standing
from shared.messages.ending import ANSWER
from shared.messages.envelope import Envelope, Question, Turn
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import in_one_line

#: Seconds for reading the history.
WAIT_FOR_HISTORY = 4.0


class Services(about.Services, publish.Services, Protocol):
    """What this module needs from outside."""

    @property
    def chat(self) -> Chat: ...
    @property
    def conversations(self) -> Conversations: ...
    @property
    def openings(self) -> Openings: ...
    @property
    def pace(self) -> Pace: ...
    @property
    def display(self) -> Display: ...


def literally(event: Clicked, incoming: Incoming, services: Services, deadline: Deadline) -> None:
    """Search for the question's own words instead of the rewrite. Raises Transient or Permanent."""
    _again(event, incoming, services, deadline, literal=True)


def once_more(event: Clicked, incoming: Incoming, services: Services, deadline: Deadline) -> None:
    """Try again to answer a question that had no answer. Raises Transient or Permanent."""
    _again(event, incoming, services, deadline, literal=False)


def _again(
    event: Clicked, incoming: Incoming, services: Services, deadline: Deadline, *, literal: bool
) -> None:
    place, found = event.place, about.about(event, services, deadline)
    if found is None:
        notice(place, "old_button", services, deadline)
    elif found.question.person != place.person:
        notice(place, "not_yours", services, deadline)
    elif not found.current or (found.ending.kind == ANSWER and not literal):
        logs.info("It was already answered again")
        # The process may have died after it showed progress for this click, so check what Chat shows.
        services.display.put_back(found.question, Standing(found.ending), deadline)
    elif found.ending.answer_number >= MOST_AGAIN:
        notice(place, "old_button", services, deadline)
    elif not services.pace.allows(place.person, _named(found), deadline):
        notice(place, "too_many", services, deadline, most=services.pace.most)
    else:
        literal = literal or found.ending.literal
        _send(place, found, incoming, services, deadline, literal=literal)


def _named(found: about.About) -> str:
    """A different name each time a question is asked again, so that every time is counted."""
    return f"{found.question.id}#{found.ending.answer_number + 1}"


def _send(
    place: Place,
    found: about.About,
    incoming: Incoming,
    services: Services,
    deadline: Deadline,
    *,
    literal: bool,
) -> None:
    started, question = time.monotonic(), found.question
    envelope = Envelope(
        trace=incoming.trace,
        question=question,
        history=_history(place, question, services, deadline),
        answer_number=found.ending.answer_number + 1,
        again_at=datetime.now(UTC),
        literal=literal,
        click_target=publish.click_target(incoming, services.settings),
    )
    with logs.context(question=question.id, trace=incoming.trace):
        # Publish first: after that an answer comes, even if this process dies.
        publish.publish(envelope, incoming, started, services, deadline)
        _show_progress(envelope, services, deadline)


def _history(place: Place, question: Question, services: Services, deadline: Deadline) -> tuple[Turn, ...]:
    try:
        history = services.conversations.history(question, deadline.within(WAIT_FOR_HISTORY))
    except Exception as error:
        logs.error("The history cannot be read; continuing without it", error=in_one_line(error))
        history = ()
    return services.openings.before(place, question, history, deadline)


def _show_progress(envelope: Envelope, services: Services, deadline: Deadline) -> None:
    question = envelope.question
    if envelope.history and not envelope.literal:
        card = progress(question.language, "understanding")
    else:
        card = progress(question.language, "searching", question.text)
    services.display.progress(question, card, deadline, answer_number=envelope.answer_number)
