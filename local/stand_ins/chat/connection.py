"""How Chat is connected to the bot: the format of its events, the way they take, and what proves them.

All three can be switched while it runs. Sources: developers.google.com/workspace/chat, "Verify requests from
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
    """The settings of the Chat app: `audience` is what a classic app's tokens are for, over HTTPS."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    shape: Literal["classic", "add-on"] = "classic"
    transport: Literal["https", "pubsub"] = "https"
    audience: Literal["url", "number"] = "url"

    @model_validator(mode="after")
    def _offered(self) -> "Connection":
        if self.shape == "add-on" and self.audience == "number":
            raise ValueError("an add-on is always called with its URL as the audience")
        return self

    @property
    def brings_clicks(self) -> bool:
        """Whether clicks reach the bot: with an add-on, Pub/Sub was seen to bring none."""
        return (self.shape, self.transport) != ("add-on", "pubsub")


@dataclass(frozen=True)
class Bot:
    """Where the bot listens, the audience of its URL, and how to publish to the topic of its events."""

    url: str
    audience: str
    publish: Publish | None


class Sender:
    """Sends events as the connection says. `own` signs what Chat signs itself, with a key of its own."""

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
        """The events of what a person did. Raises RestError where the connection brings none."""
        if done.kind == "clicked" and not self.connection.brings_clicks:
            raise invalid("The app is unable to process your request: an add-on gets no clicks by Pub/Sub.")
        if done.dialog and self.connection.transport == "pubsub":
            raise invalid("Could not load dialog: there are none by Pub/Sub.")
        return list((classic if self.connection.shape == "classic" else add_on)(done))

    async def send(self, event: Json) -> Json:
        """Send one event, and return the Message that it was answered with, or nothing. Raises Unanswered."""
        return message_in(await self.ask(event))

    async def ask(self, event: Json) -> Json:
        """Send one event, and return what it was answered with, in the format of the event.

        Raises Unanswered.
        """
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
        except Exception as error:  # Chat does not tell people, and is not known to try again
            raise Unanswered(f"the event could not be published: {error}") from error

    def _token(self, bot: Bot) -> str:
        if self.connection.shape == "add-on":
            return self._signer.mint(audience=bot.audience, email=ADD_ON_IDENTITY)
        if self.connection.audience == "number":
            return self.own.mint(audience=PROJECT_NUMBER, email=None, issuer=CHAT_IDENTITY)
        return self._signer.mint(audience=bot.audience, email=CHAT_IDENTITY)


def _as_over_https(event: Json, token: str) -> Json:
    """An add-on's event by HTTPS: with tokens in it, and all numbers are floats (seen, not documented)."""
    floating: Json = json.loads(json.dumps(event), parse_int=float)
    return {**floating, "authorizationEventObject": {"systemIdToken": token, "userIdToken": token}}


def message_in(answer: Json) -> Json:
    """The Message in an answer; an add-on wraps it. Raises Unanswered for what Chat could not read."""
    if "hostAppDataAction" not in answer:
        return answer
    try:
        return dict(answer["hostAppDataAction"]["chatDataAction"]["createMessageAction"]["message"])
    except (ValueError, TypeError, KeyError) as error:
        raise Unanswered("the answer is no Message") from error


#: What an add-on may answer with, besides nothing.
_ACTIONS = {"hostAppDataAction", "action"}


def _object(answer: bytes, shape: str) -> Json:
    try:
        fields = dict(json.loads(answer))
    except (ValueError, TypeError) as error:
        raise Unanswered("the answer is no JSON object") from error
    if shape == "add-on" and fields.keys() - _ACTIONS:
        raise Unanswered("the answer is none of an add-on's")
    return fields
