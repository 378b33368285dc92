"""The REST calls of `spaces.messages`: create, get, update (PUT and PATCH) and delete.

Everything else answers 501, among it thread keys, silent notifications, `allowMissing` and private messages.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from local.stand_ins.chat.messages import CreateOptions, Messages, ReplyOption
from local.stand_ins.chat.quotas import Quotas
from local.stand_ins.chat.validation import (
    ProtoMessage,
    message_from,
    message_from_wire,
    message_json,
)
from local.stand_ins.faults import Faults
from local.stand_ins.http_gate import (
    Endpoint,
    answering,
    gated,
    google_error,
    invalid,
    same_origin,
    unimplemented,
)

Work = Callable[[Request], Awaitable[Any]]
#: Query parameters of every method. `$alt` asks for enums as numbers.
SYSTEM_PARAMETERS = frozenset({"$alt", "alt", "prettyPrint"})
ENUMS_AS_NUMBERS = "json;enum-encoding=int"
CREATE_PARAMETERS = frozenset({"messageId", "messageReplyOption"})
UPDATE_PARAMETERS = frozenset({"updateMask"})
#: Parameters of the real API that are not served.
UNSERVED_PARAMETERS = frozenset(
    {"allowMissing", "force", "requestId", "createMessageNotificationOptions.notificationType"}
)


class RestApi:
    """Answers the calls. `quotas` None: no quotas. Authorization is not checked: this is loopback,
    and other sites are refused."""

    def __init__(self, messages: Messages, quotas: Quotas | None) -> None:
        self._messages = messages
        self._quotas = quotas
        #: Writes that were answered with a time-out, and are applied later.
        self.late: set[asyncio.Task[Response]] = set()

    def routes(self, faults: Faults) -> list[BaseRoute]:
        """The routes under /v1, behind the faults of the service `chat` and closed to other sites."""

        def route(path: str, work: Work, *methods: str) -> Route:
            endpoint = answering(_as_json(work))
            if "GET" not in methods:
                endpoint = self._perhaps_late(faults, endpoint)
            return Route(path, same_origin(gated("chat", faults, endpoint)), methods=methods or None)

        one = "/v1/spaces/{space}/messages/{message}"
        anything = ("GET", "POST", "PUT", "PATCH", "DELETE")
        return [
            route("/v1/spaces/{space}/messages", partial(self._create, faults), "POST"),
            route(one, self._get, "GET"),
            route(one, partial(self._update, faults), "PUT", "PATCH"),
            route(one, self._delete, "DELETE"),
            route("/v1/{path:path}", _unimplemented, *anything),
        ]

    def _perhaps_late(self, faults: Faults, endpoint: Endpoint) -> Endpoint:
        """`endpoint`, or what the caller of a write sees of it that is applied late: a time-out."""

        async def answer(request: Request) -> Response:
            late = faults.drawn("chat-late")
            if late is None:
                return await endpoint(request)
            await request.body()  # as long as the caller is there

            async def apply() -> Response:
                await asyncio.sleep(late.seconds)
                return await endpoint(request)

            task = asyncio.create_task(apply())
            self.late.add(task)
            task.add_done_callback(self.late.discard)
            return google_error(504, "DEADLINE_EXCEEDED", "chat is late (fault chat-late)")

        return answer

    async def _create(self, faults: Faults, request: Request) -> Any:
        query = _query(request, CREATE_PARAMETERS)
        space = self._counted(request, writes=True)
        options = CreateOptions(
            message_id=query.get("messageId", ""),
            reply_option=_enum(ReplyOption, query.get("messageReplyOption")),
        )
        return self._messages.create(space, await _message(request, faults), options)

    async def _get(self, request: Request) -> Any:
        _query(request, frozenset())
        space = self._counted(request, writes=False)
        return self._messages.readable(space, request.path_params["message"]).message

    async def _update(self, faults: Faults, request: Request) -> Any:
        query = _query(request, UPDATE_PARAMETERS)
        space = self._counted(request, writes=True)
        return self._messages.update(
            space,
            request.path_params["message"],
            await _message(request, faults),
            query.get("updateMask", ""),
        )

    async def _delete(self, request: Request) -> Any:
        _query(request, frozenset())
        space = self._counted(request, writes=True)
        self._messages.delete(self._messages.own(space, request.path_params["message"]))
        return {}

    def _counted(self, request: Request, *, writes: bool) -> str:
        """The space of the call, after counting it in the quota. Raises RestError 403, 404, 429."""
        space: str = f"spaces/{request.path_params['space']}"
        self._messages.check_bot_in(space)
        if self._quotas is not None:
            (self._quotas.write if writes else self._quotas.read)(space)
        return space


async def _message(request: Request, faults: Faults) -> ProtoMessage:
    """The Message that is sent. Raises RestError 400 for cards while they are refused."""
    message = message_from_wire(await request.body())
    if message.cards_v2 and faults.drawn("chat-refused-cards"):
        raise invalid("Cards are refused (fault chat-refused-cards).")
    return message


def _as_json(work: Work) -> Endpoint:
    async def answer(request: Request) -> Response:
        fields = await work(request)
        if request.query_params.get("$alt") == ENUMS_AS_NUMBERS:
            fields = message_json(message_from(fields), enums_as_numbers=True)
        return JSONResponse(fields)

    return answer


async def _unimplemented(request: Request) -> Any:
    raise unimplemented(f"{request.method} {request.url.path}")


def _query(request: Request, known: frozenset[str]) -> dict[str, str]:
    for name in request.query_params:
        if name in UNSERVED_PARAMETERS:
            raise unimplemented(name)
        if name not in known | SYSTEM_PARAMETERS:
            raise invalid(f'Unknown name "{name}": Cannot bind query parameter.')
    return dict(request.query_params)


def _enum(kind: Any, value: str | None) -> int:
    """The enum value of a query parameter, given by name or number; 0 if absent. Raises RestError 400."""
    try:
        return int(kind(int(value or 0)) if not value or value.isdecimal() else kind[value])
    except (KeyError, ValueError) as error:
        raise invalid(f"Invalid value {value!r} for {kind.__name__}.") from error
