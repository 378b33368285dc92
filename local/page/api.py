"""What the chat page calls: the state, live changes, what people do, the connection, and the faults."""

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from local.page.bodies import (
    Click,
    DeletedMessage,
    FaultSwitch,
    GivenCommand,
    Membership,
    PostedMessage,
)
from local.stand_ins.chat.clicks import Button, Clicks
from local.stand_ins.chat.connection import Connection, Sender
from local.stand_ins.chat.directory import BOT, PEOPLE, SPACES
from local.stand_ins.chat.errors import ChatError, invalid
from local.stand_ins.chat.interactions import COMMANDS
from local.stand_ins.chat.live import Changes, for_page, stream
from local.stand_ins.chat.people import People
from local.stand_ins.chat.store import MessageStore
from local.stand_ins.faults import Faults, fault_names
from local.stand_ins.http_gate import Endpoint as Work
from local.stand_ins.http_gate import google_error, same_origin

Json = dict[str, Any]


BodyType = TypeVar("BodyType", bound=BaseModel)


class Page:
    """The endpoints under /page; `people`, `clicks` and `delete` raise ChatError for what cannot be done."""

    def __init__(
        self,
        store: MessageStore,
        changes: Changes,
        faults: Faults,
        *,
        people: People,
        clicks: Clicks,
        sender: Sender,
        delete: Callable[[str], None],
        model_note: Callable[[], str],
    ) -> None:
        self._store = store
        self._changes = changes
        self._faults = faults
        self._people = people
        self._clicks = clicks
        self._sender = sender
        self._delete = delete
        self._model_note = model_note

    def routes(self) -> list[BaseRoute]:
        """The routes, for requests from this machine's own page alone."""

        def route(path: str, work: Work, method: str) -> Route:
            return Route(f"/page/{path}", same_origin(_refusing(work)), methods=[method])

        return [
            route("state", self._state, "GET"),
            route("events", self._events, "GET"),
            route("messages", self._post_message, "POST"),
            route("commands", self._give_command, "POST"),
            route("clicks", self._click, "POST"),
            route("members", self._change_membership, "POST"),
            route("connection", self._connection, "GET"),
            route("connection", self._connect, "POST"),
            route("delete", self._delete_message, "POST"),
            route("faults", self._active_faults, "GET"),
            route("faults", self._switch_faults, "POST"),
        ]

    async def _state(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "spaces": [space.page_json() for space in SPACES.values()],
                "people": [person.page_json() for person in PEOPLE.values()],
                "bot": {"name": BOT["name"], "displayName": BOT["displayName"]},
                "model": self._model_note(),
                "commands": [vars(command) for command in COMMANDS.values()],
                **self._around(),
                "messages": [for_page(stored.message) for stored in self._store.present()],
            }
        )

    def _around(self) -> Json:
        """What any page may change for all of them."""
        connection = self._sender.connection
        return {
            "withoutBot": self._store.without_bot(),
            "connection": {**connection.model_dump(), "bringsClicks": connection.brings_clicks},
        }

    async def _events(self, request: Request) -> Response:
        seen = request.headers.get("last-event-id", "")
        after = int(seen) if seen.isdecimal() else self._store.last_change()
        return StreamingResponse(
            stream(self._store, self._changes, after, self._around),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    async def _post_message(self, request: Request) -> Response:
        posted = await _body(request, PostedMessage)
        fields = posted.model_dump(exclude={"attachment"})
        file = (posted.attachment.name, posted.attachment.type) if posted.attachment else None
        return JSONResponse(for_page(self._people.write(**fields, file=file)))

    async def _give_command(self, request: Request) -> Response:
        given = await _body(request, GivenCommand)
        message = self._people.command(
            given.space,
            given.command,
            given.text,
            person=given.person,
            locale=given.locale,
            thread=given.thread,
        )
        return JSONResponse(for_page(message) if message else {})

    async def _click(self, request: Request) -> Response:
        click = await _body(request, Click)
        outcome = await self._clicks.click(
            Button(click.message, click.function, click.parameters, in_dialog=click.dialog),
            click.inputs,
            person=click.person,
            locale=click.locale,
        )
        return JSONResponse(vars(outcome) if outcome else {})

    async def _change_membership(self, request: Request) -> Response:
        asked = await _body(request, Membership)
        who = {"person": asked.person, "locale": asked.locale}
        if asked.bot == "remove":
            self._people.remove_bot(asked.space, **who)
            return JSONResponse({})
        message = self._people.add_bot(asked.space, asked.text, **who)
        return JSONResponse(for_page(message) if message else {})

    async def _connection(self, _request: Request) -> Response:
        return JSONResponse(self._sender.connection.model_dump())

    async def _connect(self, request: Request) -> Response:
        self._sender.connection = await _body(request, Connection)
        self._changes.notify()
        return await self._connection(request)

    async def _delete_message(self, request: Request) -> Response:
        self._delete((await _body(request, DeletedMessage)).name)
        return JSONResponse({})

    async def _active_faults(self, _request: Request) -> Response:
        return JSONResponse(
            {"active": [fault.name for fault in self._faults.active], "names": list(fault_names())}
        )

    async def _switch_faults(self, request: Request) -> Response:
        switch = await _body(request, FaultSwitch)
        if unknown := set(switch.on + switch.off) - set(fault_names()):
            raise invalid(f"Unknown faults: {', '.join(sorted(unknown))}.")
        for name in switch.on:
            self._faults.switch_on(name, share=switch.share, seconds=switch.seconds)
        if switch.off:
            self._faults.switch_off(*switch.off)
        return await self._active_faults(request)


def _refusing(work: Work) -> Work:
    async def answer(request: Request) -> Response:
        try:
            return await work(request)
        except ChatError as error:
            return google_error(400, "INVALID_ARGUMENT", str(error))

    return answer


async def _body(request: Request, kind: type[BodyType]) -> BodyType:
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise invalid(str(error)) from error
