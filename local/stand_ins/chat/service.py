"""Google Chat on loopback: the REST API, the events to the bot, and what the chat page needs."""

import asyncio
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from local.page.api import Page
from local.stand_ins.chat.clicks import Clicks
from local.stand_ins.chat.connection import Bot, Connection, Publish, Sender
from local.stand_ins.chat.errors import invalid
from local.stand_ins.chat.events import RETRY_SECONDS, WINDOW_SECONDS
from local.stand_ins.chat.live import Changes
from local.stand_ins.chat.messages import Messages
from local.stand_ins.chat.people import People
from local.stand_ins.chat.quotas import Quotas
from local.stand_ins.chat.rest import RestApi
from local.stand_ins.chat.store import MessageStore
from local.stand_ins.faults import Faults
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
        #: What the page says about the model that answers.
        self.model_note = ""
        self._store = MessageStore(state)
        self._changes = Changes()
        self._messages = Messages(self._store, self._changes.notify)
        self._faults = faults
        self._signer = signer
        #: The quotas of every space; None where none are enforced.
        self.quotas = Quotas() if quotas else None
        self._rest = RestApi(self._messages, self.quotas)
        self._sender = Sender(signer, window_seconds, retry_seconds)
        #: What people do: writing, commands, adding and removing the bot.
        self.people = People(self._store, self._changes, self._messages, self._sender, faults)

    def routes(self) -> list[BaseRoute]:
        """The REST API under /v1, /certs for the tokens of events, and the page's endpoints under /page."""
        page = Page(
            self._store,
            self._changes,
            self._faults,
            people=self.people,
            clicks=Clicks(self.people),
            sender=self._sender,
            delete=self._delete_as_person,
            model_note=lambda: self.model_note,
        )
        certificates = [
            Route("/certs", _certificates(self._signer)),
            Route("/certs/chat", _certificates(self._sender.own)),
        ]
        return [*certificates, *self._rest.routes(self._faults), *page.routes()]

    @property
    def own_signer(self) -> Signer:
        """Signs the tokens that Chat signs itself, for a classic app whose audience is the project number."""
        return self._sender.own

    @property
    def connection(self) -> Connection:
        """How it is connected to the bot."""
        return self._sender.connection

    def connect(self, connection: Connection) -> None:
        """Connect it otherwise from now on."""
        self._sender.connection = connection

    async def start(self, bot_url: str, audience: str, publish: Publish | None = None) -> None:
        """Send events to `bot_url` from now on, with tokens for `audience`; or with `publish` by Pub/Sub."""
        self._sender.bot = Bot(bot_url, audience, publish)

    async def stop(self) -> None:
        """Give up the events under way, let the pages go and close the state."""
        self._changes.end()
        under_way = (*self.people.under_way, *self._rest.late)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._sender.close()
        self._store.close()

    def post_as_person(self, space: str, text: str, **options: Any) -> Json:
        """A person's message, as Message JSON; the options are those of `People.write`."""
        return self.people.write(space, text, **options)

    @property
    def sending(self) -> int:
        """How many events are under way, and writes that are applied late."""
        return len(self.people.under_way) + len(self._rest.late)

    def _delete_as_person(self, name: str) -> None:
        space, separator, message_id = name.partition("/messages/")
        if not separator:
            raise invalid(f"Invalid message name: {name}.")
        self._messages.delete(self._messages.get(space, message_id))


def _certificates(signer: Signer) -> Any:
    async def answer(_request: Request) -> Response:
        return JSONResponse(signer.certificates(), headers={"Cache-Control": "public, max-age=3600"})

    return answer
