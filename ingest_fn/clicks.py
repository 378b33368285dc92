"""Clicks on our buttons.

Anyone who may use the bot in a space may rate the answers there. They may also make the bot forget a thread,
as anyone there may write `/forget`. Only the asker may ask a question again (`ingest_fn/ask_again.py`).
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from ingest_fn import ask_again, rating
from ingest_fn.commands import confirmation
from ingest_fn.forget import Forgetting
from ingest_fn.incoming import Incoming
from ingest_fn.notices import notice, replace, say
from ingest_fn.publish import click_target
from shared.chat import buttons
from shared.chat.events import Clicked
from shared.chat.message import Content
from shared.language.catalogue import text
from shared.messages.names import is_message_of, is_thread_of
from shared.runtime import logs
from shared.runtime.deadline import Deadline


class Services(ask_again.Services, rating.Services, Protocol):
    """What a click needs from outside."""

    @property
    def forgetting(self) -> Forgetting: ...


Action = Callable[[Clicked, Incoming, Services, Deadline], None]


def clicked(event: Clicked, incoming: Incoming, services: Services, deadline: Deadline) -> None:
    """Do the action of a button. Raises Transient or Permanent."""
    action = ACTIONS.get(event.action)
    if action is None:
        logs.warning("The button has an unknown action", action=event.action[:40])
        notice(event.place, "old_button", services, deadline)
        return
    action(event, incoming, services, deadline)


def _ask_to_forget(event: Clicked, incoming: Incoming, services: Services, deadline: Deadline) -> None:
    conversation = _conversation(event)
    if conversation is None:
        notice(event.place, "old_button", services, deadline)
        return
    target = click_target(incoming, services.settings)
    say(event.place, confirmation(event.place, conversation, target), services, deadline)


def _forget(event: Clicked, incoming: Incoming, services: Services, deadline: Deadline) -> None:
    place, conversation = event.place, _conversation(event)
    if conversation is None:
        notice(place, "old_button", services, deadline)
        return
    services.forgetting.conversation(place, conversation, deadline)
    said = event.parameters.get("said", "")
    if is_message_of(place.space, said):
        replace(place, said, Content(text(place.language, "notice", "forgotten")), services, deadline)
    else:
        notice(place, "forgotten", services, deadline)


def _conversation(event: Clicked) -> str | None:
    """The conversation that a button names; None if it is not in the space of the button."""
    space, conversation = event.place.space, event.parameters.get("conversation", "")
    return conversation if conversation == space or is_thread_of(space, conversation) else None


#: What each button does, by the name of its action.
ACTIONS: Mapping[str, Action] = {
    buttons.RATE: rating.rate,
    buttons.LITERAL: ask_again.literally,
    buttons.AGAIN: ask_again.once_more,
    buttons.ASK_TO_FORGET: _ask_to_forget,
    buttons.FORGET: _forget,
}
