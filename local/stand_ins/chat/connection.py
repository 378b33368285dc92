"""How Chat is connected to the bot: the format of the events, their transport, and their tokens.

All three can be changed while Chat runs. Sources: developers.google.com/workspace/chat, "Verify requests from
Chat", and "Build a Chat app behind a firewall with Pub/Sub".
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

import httpx
from pydantic import BaseModel, ConfigDict, model_validator

from local.places import ADD_ON_IDENTITY, CHAT_IDENTITY, PROJECT_NUMBER
from local.stand_ins.chat.events import Delivery, Unanswered, deliver
from local.stand_ins.chat.interactions import Interaction, add_on, classic
from local.stand_ins.http_gate import invalid
from local.stand_ins.tokens import Signer

Json = dict[str, Any]
Publish = Callable[[bytes], Awaitable[None]]


class Connection(BaseModel):
    """The settings of the Chat app. `audience`: the audience of a classic app's tokens over HTTPS."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    shape: Literal["classic", "add-on"] = "classic"
    transport: Literal["https", "pubsub"] = "https"
    audience: Literal["url", "number"] = "url"

    @model_validator(mode="after")
    def _offered(self) -> "Connection":
        if self.shape == "add-on" and self.audience == "number":
            raise ValueError("the audience of an add-on is always its URL")
        return self

    @property
    def brings_clicks(self) -> bool:
        """Whether clicks reach the bot. Over Pub/Sub, an add-on was seen to get none."""
        return (self.shape, self.transport) != ("add-on", "pubsub")


@dataclass(frozen=True)
class Bot:
    """The URL of the bot, the audience of that URL, and how to publish to the topic of its events."""

    url: str
    audience: str
    publish: Publish | None


class Sender:
    """Sends events over the current connection. `own` signs the tokens that Chat itself signs."""

    def __init__(self, signer: Signer, window_seconds: float, retry_seconds: tuple[float, ...]) -> None:
        self.connection = Connection()
        self.bot: Bot | None = None
        self.own = Signer("chat-1")
        self._signer = signer
        self._patience = (window_seconds, retry_seconds)
        self._client = httpx.AsyncClient(trust_env=False, timeout=None)  # noqa: S113 - the window is the limit

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def events(self, done: Interaction) -> list[Json]:
        """The events of an action. Raises RestError if the connection sends none for it."""
        if done.kind == "clicked" and not self.connection.brings_clicks:
            raise invalid("The app is unable to process your request: an add-on gets no clicks over Pub/Sub.")
        if done.dialog and self.connection.transport == "pubsub":
            raise invalid("Could not load dialog: Pub/Sub has none.")
        return list((classic if self.connection.shape == "classic" else add_on)(done))

    async def send(self, event: Json) -> Json:
        """Send an event and return the Message in its answer; {} if there is none. Raises Unanswered."""
        return message_in(await self.ask(event))

    async def ask(self, event: Json) -> Json:
        """Send an event and return its answer, in the format of the event. Raises Unanswered."""
        if self.bot is None:
            raise RuntimeError("Chat does not know the bot yet: call start() first")
        if self.connection.transport == "pubsub":
            await self._publish(self.bot, event)
            return {}
        sent = _as_over_https(event, self._token(self.bot)) if self.connection.shape == "add-on" else event
        window_seconds, retry_seconds = self._patience
        bot = self.bot
        delivery = Delivery(bot.url, lambda: self._token(bot), window_seconds, retry_seconds)
        return _object(await deliver(self._client, delivery, sent), self.connection.shape)

    async def _publish(self, bot: Bot, event: Json) -> None:
        if bot.publish is None:
            raise Unanswered("there is no topic")
        try:
            await bot.publish(json.dumps(event).encode())
        except Exception as error:  # Chat does not tell people, and is not known to retry
            raise Unanswered(f"the event could not be published: {error}") from error

    def _token(self, bot: Bot) -> str:
        if self.connection.shape == "add-on":
            return self._signer.mint(audience=bot.audience, email=ADD_ON_IDENTITY)
        if self.connection.audience == "number":
            return self.own.mint(audience=PROJECT_NUMBER, email=None, issuer=CHAT_IDENTITY)
        return self._signer.mint(audience=bot.audience, email=CHAT_IDENTITY)


def _as_over_https(event: Json, token: str) -> Json:
    """An add-on's event over HTTPS. It holds tokens, and its numbers are floats (seen, not documented)."""
    floating: Json = json.loads(json.dumps(event), parse_int=float)
    return {**floating, "authorizationEventObject": {"systemIdToken": token, "userIdToken": token}}


def message_in(answer: Json) -> Json:
    """The Message in an answer, which an add-on wraps. Raises Unanswered if Chat could not read it."""
    if "hostAppDataAction" not in answer:
        return answer
    try:
        return dict(answer["hostAppDataAction"]["chatDataAction"]["createMessageAction"]["message"])
    except (ValueError, TypeError, KeyError) as error:
        raise Unanswered("the answer is not a Message") from error


#: The fields of an add-on's answer, which may also be empty.
_ACTIONS = {"hostAppDataAction", "action"}


def _object(answer: bytes, shape: str) -> Json:
    try:
        fields = dict(json.loads(answer))
    except (ValueError, TypeError) as error:
        raise Unanswered("the answer is not a JSON object") from error
    if shape == "add-on" and fields.keys() - _ACTIONS:
        raise Unanswered("an add-on cannot answer like this")
    return fields
