"""The routes that the chat page calls: state, live changes, people's actions, connection and faults."""

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
from local.page.live import for_page, stream
from local.stand_ins.chat.clicks import Button
from local.stand_ins.chat.connection import Connection
from local.stand_ins.chat.directory import BOT, PEOPLE, SPACES
from local.stand_ins.chat.interactions import COMMANDS
from local.stand_ins.chat.service import Chat
from local.stand_ins.faults import fault_names
from local.stand_ins.http_gate import Endpoint, answering, invalid, same_origin

Json = dict[str, Any]


BodyType = TypeVar("BodyType", bound=BaseModel)


class Page:
    """The endpoints under /page. They act in Chat for the people on the page.

    `model_note` is the key of the page's text about the model that answers.
    """

    def __init__(self, chat: Chat, model_note: str = "") -> None:
        self._chat = chat
        self._people = chat.people
        self._faults = chat.faults
        self.model_note = model_note

    def routes(self) -> list[BaseRoute]:
        """The routes. They refuse requests from other sites."""

        def route(path: str, work: Endpoint, method: str) -> Route:
            return Route(f"/page/{path}", same_origin(answering(work)), methods=[method])

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
                "model": self.model_note,
                "commands": [vars(command) for command in COMMANDS.values()],
                **self._around(),
                "messages": [for_page(stored.message) for stored in self._chat.store.present()],
            }
        )

    def _around(self) -> Json:
        """Settings that every open page shares."""
        connection = self._chat.connection
        return {
            "withoutBot": self._chat.store.without_bot(),
            "connection": {**connection.model_dump(), "bringsClicks": connection.brings_clicks},
        }

    async def _events(self, request: Request) -> Response:
        seen = request.headers.get("last-event-id", "")
        after = int(seen) if seen.isdecimal() else self._chat.store.last_change()
        return StreamingResponse(
            stream(self._chat.store, self._chat.changes, after, self._around),
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
        outcome = await self._chat.clicks.click(
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
        return JSONResponse(self._chat.connection.model_dump())

    async def _connect(self, request: Request) -> Response:
        self._chat.connect(await _body(request, Connection))
        return await self._connection(request)

    async def _delete_message(self, request: Request) -> Response:
        self._chat.delete_as_person((await _body(request, DeletedMessage)).name)
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


async def _body(request: Request, kind: type[BodyType]) -> BodyType:
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise invalid(str(error)) from error
