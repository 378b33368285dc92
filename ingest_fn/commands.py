"""Commands, and the clicks on our buttons."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ingest_fn.forget import Forgetting
from ingest_fn.notices import addressed, notice, replace, say
from ingest_fn.settings import Settings
from shared import logs
from shared.chat import Card, Chat, Content
from shared.chat_events import Clicked, Commanded
from shared.chat_places import Place
from shared.deadline import Deadline
from shared.texts import text

#: What confirms that all is to be forgotten, after `/forget`.
YES = {"yes", "はい"}
FORGET = "forget"


class Services(Protocol):
    """What a command asks of the world."""

    @property
    def chat(self) -> Chat: ...
    @property
    def forgetting(self) -> Forgetting: ...
    @property
    def settings(self) -> Settings: ...


def obey(event: Commanded, services: Services, deadline: Deadline, *, clicks: bool) -> None:
    """Do what a command says. `clicks`: whether a button would work. Raises Transient or Permanent."""
    place = event.place
    if event.command == "help":
        say(place, help_of(place, services.settings), services, deadline)
    elif event.command != FORGET:
        notice(place, "unknown_command", services, deadline)
    elif place.conversation is None or place.opens:
        notice(place, "forget_where", services, deadline)
    elif event.words.strip(" .!。！").lower() in YES:
        services.forgetting.conversation(place, place.conversation, deadline)
        notice(place, "forgotten", services, deadline)
    else:
        say(place, _confirmation(place, place.conversation, services.settings, clicks), services, deadline)


def clicked(event: Clicked, services: Services, deadline: Deadline) -> None:
    """Do what a button says. Raises Transient or Permanent."""
    action = ACTIONS.get(event.action)
    if action is None:
        logs.warning("A button that nobody knows", action=event.action[:40])
        notice(event.place, "old_button", services, deadline)
        return
    action(event, services, deadline)


def help_of(place: Place, settings: Settings, key: str = "text") -> Content:
    """What the bot can do, what it remembers and for how long.

    `key` is of the catalogue's [help]: `text`, `welcome` or, for whoever only calls the bot, `mention`.
    """
    hours = f"{settings.history_hours:g}"
    return Content(text(place.language, "help", key, hours=hours))


def _forget(event: Clicked, services: Services, deadline: Deadline) -> None:
    place, conversation = event.place, event.parameters.get("conversation", "")
    if conversation != place.space and not conversation.startswith(f"{place.space}/threads/"):
        notice(place, "old_button", services, deadline)
        return
    services.forgetting.conversation(place, conversation, deadline)
    said = event.parameters.get("said", "")
    if said.startswith(f"{place.space}/messages/"):
        replace(place, said, Content(text(place.language, "notice", "forgotten")), services, deadline)
    else:
        notice(place, "forgotten", services, deadline)


#: What each button does, by the name of its action.
ACTIONS: Mapping[str, Callable[[Clicked, Any, Deadline], None]] = {FORGET: _forget}


def _confirmation(place: Place, conversation: str, settings: Settings, clicks: bool) -> Content:
    said = text(place.language, "forget", "direct" if conversation == place.space else "thread")
    if not clicks:
        return Content(said)
    parameters = {"action": FORGET, "conversation": conversation, "said": addressed(place).id}
    button: Card = {
        "text": text(place.language, "forget", "button"),
        "on_click": {
            "action": {
                # An add-on's button is a call of this URL; a classic app's may have any name.
                "function": settings.url or FORGET,
                "parameters": [{"key": key, "value": value} for key, value in parameters.items()],
            }
        },
    }
    widgets = [{"button_list": {"buttons": [button]}}]
    card: Card = {"card_id": FORGET, "card": {"sections": [{"widgets": widgets}]}}
    return Content(said, cards=[card])
