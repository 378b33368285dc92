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
    """Chat with its preset people and spaces; everything runs in one event loop.

    `state` is an SQLite file that outlives a restart, None keeps all in memory. `window_seconds` and
    `retry_seconds` are Chat's patience with the bot.
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
        #: Every message, and the wake-up call for whoever follows them.
        self.store, self.changes = MessageStore(state), Changes()
        self._messages = Messages(self.store, self.changes.notify)
        self.faults = faults
        self._signer = signer
        #: The quotas of every space; None where none are enforced.
        self.quotas = Quotas() if quotas else None
        self._rest = RestApi(self._messages, self.quotas)
        self._sender = Sender(signer, window_seconds, retry_seconds)
        #: What people do: writing, commands, adding and removing the bot.
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
        """Signs the tokens that Chat signs itself, for a classic app whose audience is the project number."""
        return self._sender.own

    @property
    def connection(self) -> Connection:
        """How it is connected to the bot."""
        return self._sender.connection

    def connect(self, connection: Connection) -> None:
        """Change how it is connected, from now on."""
        self._sender.connection = connection
        self.changes.notify()

    async def start(self, bot_url: str, audience: str, publish: Publish | None = None) -> None:
        """Send events to `bot_url` from now on, with tokens for `audience`; or with `publish` by Pub/Sub."""
        self._sender.bot = Bot(bot_url, audience, publish)

    async def stop(self) -> None:
        """Give up the events under way, let the pages go and close the state."""
        self.changes.end()
        for task in self.people.under_way:
            task.cancel()
        await asyncio.gather(*self.people.under_way, return_exceptions=True)
        await self._sender.close()
        self.store.close()

    def post_as_person(self, space: str, text: str, **options: Any) -> Json:
        """A person's message, as Message JSON; the options are those of `People.write`."""
        return self.people.write(space, text, **options)

    @property
    def sending(self) -> int:
        """How many events are under way."""
        return len(self.people.under_way)

    def delete_as_person(self, name: str) -> None:
        """A person deletes a message, by its name. Raises RestError 400, 404."""
        space, separator, message_id = name.partition("/messages/")
        if not separator:
            raise invalid(f"Invalid message name: {name}.")
        self._messages.delete(self._messages.get(space, message_id))


def _certificates(signer: Signer) -> Any:
    async def answer(_request: Request) -> Response:
        return JSONResponse(signer.certificates(), headers={"Cache-Control": "public, max-age=3600"})

    return answer
