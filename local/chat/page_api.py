"""What the chat page calls: the state, live changes, posting and deleting as a person, and the faults."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from local.chat.directory import BOT, PEOPLE, SPACES
from local.chat.errors import ChatError, invalid
from local.chat.live import Changes, for_page, stream
from local.chat.store import MessageStore
from local.faults import NAMES, Faults
from local.http_gate import Endpoint as Work
from local.http_gate import google_error, same_origin

Json = dict[str, Any]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PostedMessage(_Body):
    """What a person writes on the page."""

    space: str
    text: str
    thread: str | None = None
    mention: bool = True
    locale: Literal["en", "ja"] = "en"
    person: str


class DeletedMessage(_Body):
    """The name of the message that a person deletes."""

    name: str


class FaultSwitch(_Body):
    """Faults to switch off, and on: for which share of calls (0 to 1), holding each how long (seconds)."""

    on: list[str] = []
    off: list[str] = []
    share: float = Field(1.0, ge=0, le=1)
    seconds: float = Field(2.0, ge=0)


BodyType = TypeVar("BodyType", bound=_Body)


class Page:
    """The endpoints under /page; `post` and `delete` raise ChatError for what cannot be done."""

    def __init__(
        self,
        store: MessageStore,
        changes: Changes,
        faults: Faults,
        *,
        post: Callable[[PostedMessage], Json],
        delete: Callable[[str], None],
        model_note: Callable[[], str],
    ) -> None:
        self._store = store
        self._changes = changes
        self._faults = faults
        self._post = post
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
                "messages": [for_page(stored.message) for stored in self._store.present()],
            }
        )

    async def _events(self, request: Request) -> Response:
        seen = request.headers.get("last-event-id", "")
        after = int(seen) if seen.isdecimal() else self._store.last_change()
        return StreamingResponse(
            stream(self._store, self._changes, after),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    async def _post_message(self, request: Request) -> Response:
        return JSONResponse(for_page(self._post(await _body(request, PostedMessage))))

    async def _delete_message(self, request: Request) -> Response:
        self._delete((await _body(request, DeletedMessage)).name)
        return JSONResponse({})

    async def _active_faults(self, _request: Request) -> Response:
        return JSONResponse({"active": [fault.name for fault in self._faults.active], "names": list(NAMES)})

    async def _switch_faults(self, request: Request) -> Response:
        switch = await _body(request, FaultSwitch)
        if unknown := set(switch.on + switch.off) - set(NAMES):
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
