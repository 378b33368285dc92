"""Carries out commands, and replies to them."""

from typing import Protocol

from ingest_fn.forget import Forgetting
from ingest_fn.notices import addressed, notice, say
from ingest_fn.settings import Settings
from shared.chat import buttons
from shared.chat.events import Commanded
from shared.chat.message import Card, Chat, Content
from shared.chat.places import Place
from shared.language.catalogue import text
from shared.language.courtesies import confirms
from shared.memory import retention
from shared.messages.envelope import Language
from shared.runtime.deadline import Deadline


class Services(Protocol):
    """What a command needs from outside."""

    @property
    def chat(self) -> Chat: ...
    @property
    def forgetting(self) -> Forgetting: ...
    @property
    def settings(self) -> Settings: ...


def obey(event: Commanded, services: Services, deadline: Deadline, *, click_target: str | None) -> None:
    """Carry out a command. `click_target` is what a click on a button calls; None if clicks do not arrive.

    Raises Transient or Permanent.
    """
    place = event.place
    if event.command == "help":
        say(place, help_of(place, services.settings), services, deadline)
    elif event.command != "forget":
        notice(place, "unknown_command", services, deadline)
    elif place.conversation is None or place.opens:
        notice(place, "forget_where", services, deadline)
    elif confirms(event.words):
        services.forgetting.conversation(place, place.conversation, deadline)
        notice(place, "forgotten", services, deadline)
    else:
        say(place, confirmation(place, place.conversation, click_target), services, deadline)


def confirmation(place: Place, conversation: str, click_target: str | None) -> Content:
    """The question before the bot forgets a conversation. It has a button if clicks can arrive."""
    said = text(place.language, "forget", "direct" if conversation == place.space else "thread")
    if click_target is None:
        return Content(said)
    parameters = {"action": buttons.FORGET, "conversation": conversation, "said": addressed(place).id}
    confirm = buttons.button(click_target, text(place.language, "forget", "button"), parameters)
    card: Card = {"card_id": buttons.FORGET, "card": {"sections": [{"widgets": [buttons.row(confirm)]}]}}
    return Content(said, cards=[card])


def help_of(place: Place, settings: Settings, key: str = "text") -> Content:
    """What the bot can do, what it remembers, and for how long.

    `key` is a key of the catalogue's [help]: `text`, `welcome`, or `mention` for a mention without words.
    """
    return Content(help_text(place.language, settings.history_hours, key))


def help_text(language: Language, hours: float, key: str = "text") -> str:
    """The help text, for a history that lasts `hours`."""
    days, rating_days = retention.DEAD_LETTERS.days, retention.FEEDBACK.days
    return text(language, "help", key, hours=f"{hours:g}", days=days, rating_days=rating_days)
