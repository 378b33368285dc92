"""Google Chat on loopback: the REST API, the events to the bot, and what people do."""

import asyncio
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from local.stand_ins.chat.clicks import Clicks
from local.stand_ins.chat.connection import Bot, Connection, Publish, Sender
from local.stand_ins.chat.events import RETRY_SECONDS, WINDOW_SECONDS
from local.stand_ins.chat.messages import Messages
from local.stand_ins.chat.people import People
from local.stand_ins.chat.quotas import Quotas
from local.stand_ins.chat.rest import RestApi
from local.stand_ins.chat.store import Changes, MessageStore
from local.stand_ins.faults import Faults
from local.stand_ins.http_gate import invalid
from local.stand_ins.tokens import Signer

Json = dict[str, Any]


class Chat:
    """Chat with preset people and spaces. Everything runs in one event loop.

    `state` is an SQLite file; None keeps everything in memory. `window_seconds` is how long Chat waits for
    the bot's answer, and `retry_seconds` are its waits before further tries.
    """

    def __init__(
        self,
        state: Path | None,
        faults: Faults,
        signer: Signer,
        *,
        quotas: bool = True,
        window_seconds: float = WINDOW_SECONDS,
        retry_seconds: tuple[float, ...] = RETRY_SECONDS,
    ) -> None:
        #: All messages, and the signal that they have changed.
        self.store, self.changes = MessageStore(state), Changes()
        self._messages = Messages(self.store, self.changes.notify)
        self.faults = faults
        self._signer = signer
        #: The quotas of all spaces, or None if none are enforced.
        self.quotas = Quotas() if quotas else None
        self._rest = RestApi(self._messages, self.quotas)
        self._sender = Sender(signer, window_seconds, retry_seconds)
        #: The actions of people: write, give commands, add and remove the bot.
        self.people = People(self.store, self.changes, self._messages, self._sender, faults)
        #: Their clicks on the bot's buttons.
        self.clicks = Clicks(self.people)

    def routes(self) -> list[BaseRoute]:
        """The REST API under /v1, and /certs for the tokens of events."""
        certificates = [
            Route("/certs", _certificates(self._signer)),
            Route("/certs/chat", _certificates(self._sender.own)),
        ]
        return [*certificates, *self._rest.routes(self.faults)]

    @property
    def own_signer(self) -> Signer:
        """Signs the tokens of a classic app whose audience is the project number: Chat signs those itself."""
        return self._sender.own

    @property
    def connection(self) -> Connection:
        """How Chat is connected to the bot."""
        return self._sender.connection

    def connect(self, connection: Connection) -> None:
        """Change the connection from now on."""
        self._sender.connection = connection
        self.changes.notify()

    async def start(self, bot_url: str, audience: str, publish: Publish | None = None) -> None:
        """Send events from now on: over HTTPS to `bot_url` with tokens for `audience`, or with `publish`."""
        self._sender.bot = Bot(bot_url, audience, publish)

    async def stop(self) -> None:
        """Cancel what is under way, end the live streams of the pages and close the state."""
        self.changes.end()
        under_way = (*self.people.under_way, *self._rest.late)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._sender.close()
        self.store.close()

    def post_as_person(self, space: str, text: str, **options: Any) -> Json:
        """Write a message as a person and return its JSON. The options are those of `People.write`."""
        return self.people.write(space, text, **options)

    @property
    def sending(self) -> int:
        """The number of events under way, and of writes that are applied late."""
        return len(self.people.under_way) + len(self._rest.late)

    def delete_as_person(self, name: str) -> None:
        """Delete the message of this name for a person. Raises RestError 400, 404."""
        space, separator, message_id = name.partition("/messages/")
        if not separator:
            raise invalid(f"Invalid message name: {name}.")
        self._messages.delete(self._messages.get(space, message_id))


def _certificates(signer: Signer) -> Any:
    async def answer(_request: Request) -> Response:
        return JSONResponse(signer.certificates(), headers={"Cache-Control": "public, max-age=3600"})

    return answer
