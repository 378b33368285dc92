"""Google Chat on loopback: the REST API, the events to the bot, and what the chat page needs."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from local.chat.directory import person_in, space_named
from local.chat.errors import ChatError, invalid
from local.chat.events import (
    RETRY_SECONDS,
    WINDOW_SECONDS,
    Delivery,
    Unanswered,
    addressed_to_bot,
    deliver,
    message_event,
    plain,
)
from local.chat.live import Changes
from local.chat.messages import CreateOptions, Messages, ReplyOption
from local.chat.page_api import Page, PostedMessage
from local.chat.quotas import Quotas
from local.chat.rest import RestApi
from local.chat.store import MessageStore
from local.chat.validation import message_from_wire
from local.faults import Faults
from local.tokens import Signer

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
        self._window_seconds = window_seconds
        self._retry_seconds = retry_seconds
        self._delivery: Delivery | None = None
        self._client = httpx.AsyncClient(trust_env=False, timeout=None)  # noqa: S113 - the window is the limit
        self._sending: set[asyncio.Task[None]] = set()

    def routes(self) -> list[BaseRoute]:
        """The REST API under /v1, /certs for the tokens of events, and the page's endpoints under /page."""
        page = Page(
            self._store,
            self._changes,
            self._faults,
            post=self._post_from_page,
            delete=self._delete_as_person,
            model_note=lambda: self.model_note,
        )
        return [Route("/certs", self._certificates), *self._rest.routes(self._faults), *page.routes()]

    async def start(self, bot_url: str, audience: str) -> None:
        """Send events to `bot_url` from now on, with tokens for `audience`."""
        self._delivery = Delivery(
            url=bot_url,
            token=lambda: self._signer.mint(audience=audience),
            window_seconds=self._window_seconds,
            retry_seconds=self._retry_seconds,
        )

    async def stop(self) -> None:
        """Give up the events under way, let the pages go and close the state."""
        self._changes.end()
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
        await self._client.aclose()
        self._store.close()

    def post_as_person(
        self,
        space: str,
        text: str,
        *,
        thread: str | None = None,
        mention: bool = True,
        locale: str = "en",
        person: str = "users/1001",
    ) -> Json:
        """A person's message, in `thread` or a new one, as Message JSON; the event goes out by itself.

        In a named space the bot hears of it only when it is mentioned. Raises ChatError 400 or 404 for
        what Chat would refuse, RuntimeError when the bot is addressed before `start()`.
        """
        place = space_named(space)
        writer = person_in(place, person)
        fields = addressed_to_bot(text) if mention and not place.is_dm else plain(text)
        if not (mention or place.is_dm):
            return self._messages.create_by_person(space, fields, writer.user(), thread)
        if self._delivery is None:
            raise RuntimeError("Chat does not know the bot yet: call start() first")
        message = self._messages.create_by_person(space, fields, writer.user(), thread)
        event = message_event(message, place, writer, locale)
        self._send_soon(event, self._delivery)
        if again := self._faults.drawn("chat-duplicate"):
            self._send_soon(event, self._delivery, again.seconds)
        return message

    @property
    def sending(self) -> int:
        """How many events are under way."""
        return len(self._sending)

    def _send_soon(self, event: Json, delivery: Delivery, wait: float = 0.0) -> None:
        task = asyncio.create_task(self._send(event, delivery, wait))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, event: Json, delivery: Delivery, wait: float) -> None:
        await asyncio.sleep(wait)
        message = event["message"]
        try:
            self._post_answer(message, await deliver(self._client, delivery, event))
        except (Unanswered, ChatError):
            self._store.mark_unanswered(message["name"])
            self._changes.notify()

    def _post_answer(self, message: Json, answer: bytes) -> None:
        """Post what the bot answered the event with; `{}` posts nothing. Raises ChatError for no Message."""
        draft = message_from_wire(answer)
        if not draft.ListFields():
            return
        draft.ClearField("thread")
        option: int = ReplyOption.MESSAGE_REPLY_OPTION_UNSPECIFIED
        if message.get("threadReply"):
            draft.thread.name = message["thread"]["name"]
            option = ReplyOption.REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD
        self._messages.create(message["space"]["name"], draft, CreateOptions(reply_option=option))

    def _post_from_page(self, posted: PostedMessage) -> Json:
        return self.post_as_person(**posted.model_dump())

    def _delete_as_person(self, name: str) -> None:
        space, separator, message_id = name.partition("/messages/")
        if not separator:
            raise invalid(f"Invalid message name: {name}.")
        self._messages.delete(self._messages.get(space, message_id))

    async def _certificates(self, _request: Request) -> Response:
        return JSONResponse(self._signer.certificates())
