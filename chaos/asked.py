"""The actions of people: their questions, and other actions that may change the end of a question."""

from collections import Counter
from dataclasses import dataclass, field

from chaos.script import Conversation


@dataclass(frozen=True)
class Asked:
    """A question as it is in Chat: `name` and `created` of the person's message, and when it was written
    in seconds of `time.monotonic()`."""

    name: str
    text: str
    place: str
    created: str
    conversation: Conversation
    at: float


@dataclass(frozen=True)
class Forgot:
    """A person told the bot to forget a conversation, in the message `name` that was `created` then."""

    place: str
    name: str
    created: str


@dataclass
class Done:
    """What people did besides asking, by place or by question.

    `deleted` and `clicked` count the bot's messages that were deleted in a place, and clicks that it may have
    answered with a sentence; `anew` is when each question was last to be answered anew (`time.monotonic()`).
    """

    forgot: list[Forgot] = field(default_factory=list)
    deleted: Counter[str] = field(default_factory=Counter)
    clicked: Counter[str] = field(default_factory=Counter)
    anew: dict[str, float] = field(default_factory=dict)
