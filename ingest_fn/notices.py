"""Notices: short replies to events that are not questions, or to questions that are not accepted.

Posting a notice is retried until the deadline and then given up, unless it is the only reply to a question
(`needed`): then the event is delivered again. The id of a notice is derived from its event, so an event that
is sent twice gets one notice.
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
from shared.runtime.errors import Transient, in_one_line


class Services(Protocol):
    """What a notice needs from outside."""

    @property
    def chat(self) -> Chat: ...


def notice(
    place: Place,
    key: str,
    services: Services,
    deadline: Deadline,
    *,
    beside: bool = False,
    needed: bool = False,
    **values: Any,
) -> None:
    """Post one text of the catalogue's [notice]. `beside`: in addition to the reply to the same event.

    `needed`: raises Transient when it cannot be posted now. Else it never fails.
    """
    content = Content(text(place.language, "notice", key, **values))
    say(place, content, services, deadline, beside=beside, needed=needed)


def say(
    place: Place,
    content: Content,
    services: Services,
    deadline: Deadline,
    *,
    beside: bool = False,
    needed: bool = False,
) -> None:
    """Post one message where the event happened. `needed`: raises Transient when that is not possible now."""
    try:
        services.chat.say(addressed(place, beside=beside), content, deadline)
    except Exception as error:
        logs.error("Not said", error=in_one_line(error))
        if needed and isinstance(error, Transient):
            raise


def replace(place: Place, said: str, content: Content, services: Services, deadline: Deadline) -> None:
    """Replace the text of a message; `said` is the id that `addressed` gave it. Never fails."""
    try:
        services.chat.put_final(addressed(place).model_copy(update={"id": said}), content, deadline)
    except Exception as error:
        logs.error("Not said", error=in_one_line(error))


def addressed(place: Place, *, beside: bool = False) -> Question:
    """A placeholder question, so that a reply to any event can be posted like an answer."""
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
