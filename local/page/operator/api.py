"""The routes that the operator view calls: dead letters by group, as a list and one by one, and replays.

The operators' code is synchronous and calls stand-ins that run in this event loop, so each request runs in a
thread. The first request imports that code: the page must not wait for it when it starts.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from local.page.operator.requests import replay_request, whole_number
from local.places import Places
from local.stand_ins.http_gate import Endpoint, answering, same_origin

if TYPE_CHECKING:
    from local.page.operator.desk import Desk

Json = dict[str, Any]
#: Cases in one answer, unless the page asks for more.
LIMIT = 50


class OperatorApi:
    """The endpoints under /ops, for the small cloud at `places`."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._desk: Desk | None = None
        self._opening = threading.Lock()

    def routes(self) -> list[BaseRoute]:
        """The routes. They refuse requests from other sites."""

        def route(path: str, work: Endpoint, method: str = "GET") -> Route:
            return Route(f"/ops/{path}", same_origin(answering(work)), methods=[method])

        return [
            route("groups", self._groups),
            route("cases", self._cases),
            route("cases/{name:path}", self._case),
            route("replay", self._progress),
            route("replay", self._replay, "POST"),
            route("replay/stop", self._stop_replay, "POST"),
        ]

    async def stop(self) -> None:
        """Stop the replay under way. What it has done is recorded, and the rest keeps waiting."""
        if self._desk is not None:
            await asyncio.to_thread(self._desk.close)

    async def _groups(self, _request: Request) -> Response:
        return await self._at_desk(lambda desk: desk.groups())

    async def _cases(self, request: Request) -> Response:
        group, state = request.query_params.get("group"), request.query_params.get("state", "open")
        limit = whole_number(request, "limit", LIMIT)
        return await self._at_desk(lambda desk: desk.cases(group, state, limit))

    async def _case(self, request: Request) -> Response:
        name, with_text = request.path_params["name"], request.query_params.get("text") == "1"
        return await self._at_desk(lambda desk: desk.case(name, with_text=with_text))

    async def _progress(self, _request: Request) -> Response:
        return await self._at_desk(lambda desk: desk.progress())

    async def _replay(self, request: Request) -> Response:
        asked = await replay_request(request)
        return await self._at_desk(lambda desk: desk.preview(asked) if asked.dry_run else desk.replay(asked))

    async def _stop_replay(self, _request: Request) -> Response:
        return await self._at_desk(lambda desk: desk.stop_replay())

    async def _at_desk(self, work: Callable[["Desk"], Json]) -> Response:
        return await asyncio.to_thread(lambda: self._opened().answer(work))

    def _opened(self) -> "Desk":
        from local.page.operator.desk import Desk

        with self._opening:
            if self._desk is None:
                self._desk = Desk(self._places)
        return self._desk
