"""What the bot says besides answers: a sentence for whatever is no question, or cannot be taken as one.

Saying it is tried for as long as there is time, and then given up: no event becomes a dead letter, or comes
again, for a sentence. A notice has an id derived from its event, so an event that is sent twice is told once.
"""

import hashlib
from typing import Any, Protocol

from shared.chat.message import Chat, Content
from shared.chat.places import Place
from shared.language.catalogue import text
from shared.messages.envelope import Question
from shared.messages.names import message_name
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import in_one_line


class Services(Protocol):
    """What a notice asks of the world."""

    @property
    def chat(self) -> Chat: ...


def notice(
    place: Place, key: str, services: Services, deadline: Deadline, *, beside: bool = False, **values: Any
) -> None:
    """Say one sentence of the catalogue's [notice]. `beside`: besides the message that the event leads to."""
    say(place, Content(text(place.language, "notice", key, **values)), services, deadline, beside=beside)


def say(
    place: Place, content: Content, services: Services, deadline: Deadline, *, beside: bool = False
) -> None:
    """Post a message where the event happened, once. Never fails."""
    try:
        services.chat.say(addressed(place, beside=beside), content, deadline)
    except Exception as error:
        logs.error("Not said", error=in_one_line(error))


def replace(place: Place, said: str, content: Content, services: Services, deadline: Deadline) -> None:
    """Let a message say something else; `said` is the id it had from `addressed`. Never fails."""
    try:
        services.chat.put_final(addressed(place).model_copy(update={"id": said}), content, deadline)
    except Exception as error:
        logs.error("Not said", error=in_one_line(error))


def addressed(place: Place, *, beside: bool = False) -> Question:
    """A stand-in for a question, so that a reply to any event is posted as one to a question is."""
    name = place.key
    if beside:
        name = message_name(place.space, f"beside-{hashlib.sha256(name.encode()).hexdigest()[:40]}")
    return Question(
        id=name,
        conversation=place.conversation or place.space,
        space=place.space,
        thread=place.thread,
        person=place.person,
        text="-",
        language=place.language,
        asked_at=place.at,
    )
