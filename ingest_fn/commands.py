"""Commands."""

from typing import Protocol

from ingest_fn.confirm import confirmation
from ingest_fn.forget import Forgetting
from ingest_fn.notices import notice, say
from ingest_fn.settings import Settings
from shared.chat.events import Commanded
from shared.chat.message import Chat, Content
from shared.chat.places import Place
from shared.language.catalogue import text
from shared.language.courtesies import confirms
from shared.memory import retention
from shared.messages.envelope import Language
from shared.runtime.deadline import Deadline

FORGET = "forget"


class Services(Protocol):
    """What a command asks of the world."""

    @property
    def chat(self) -> Chat: ...
    @property
    def forgetting(self) -> Forgetting: ...
    @property
    def settings(self) -> Settings: ...


def obey(event: Commanded, services: Services, deadline: Deadline, *, click_target: str | None) -> None:
    """Do what a command says. `click_target` is what a click calls, if one would arrive.

    Raises Transient or Permanent.
    """
    place = event.place
    if event.command == "help":
        say(place, help_of(place, services.settings), services, deadline)
    elif event.command != FORGET:
        notice(place, "unknown_command", services, deadline)
    elif place.conversation is None or place.opens:
        notice(place, "forget_where", services, deadline)
    elif confirms(event.words):
        services.forgetting.conversation(place, place.conversation, deadline)
        notice(place, "forgotten", services, deadline)
    else:
        say(place, confirmation(place, place.conversation, click_target), services, deadline)


def help_of(place: Place, settings: Settings, key: str = "text") -> Content:
    """What the bot can do, what it remembers and for how long.

    `key` is of the catalogue's [help]: `text`, `welcome` or, for whoever only calls the bot, `mention`.
    """
    return Content(help_text(place.language, settings.history_hours, key))


def help_text(language: Language, hours: float, key: str = "text") -> str:
    """The same for a history of so many hours."""
    days, rating_days = retention.DEAD_LETTERS.days, retention.FEEDBACK.days
    return text(language, "help", key, hours=f"{hours:g}", days=days, rating_days=rating_days)
