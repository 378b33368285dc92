"""A push endpoint for tests: records every request and answers as the test says."""

import asyncio
import atexit
import functools
import itertools
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.support.http_serving import http_serving


@dataclass(frozen=True)
class Push:
    """One request; `at` is monotonic time in seconds, header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float


Answer = Callable[[Push], Coroutine[Any, Any, int]]


async def accept(_push: Push) -> int:
    """Acknowledge everything."""
    return 204


class Endpoint:
    """Where it listens, and what has arrived."""

    def __init__(self, url: str, answer: Answer) -> None:
        self.url = url
        self.pushes: list[Push] = []
        self._answer = answer
        self._under_way: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[int]]] = []
        self._changed = threading.Condition()

    async def receive(self, push: Push) -> int:
        """Record a request; returns the status to answer it with."""
        with self._changed:
            self.pushes.append(push)
            self._changed.notify_all()
        task = asyncio.create_task(self._answer(push))
        self._under_way.append((asyncio.get_running_loop(), task))
        await asyncio.wait([task])
        return 503 if task.cancelled() else task.result()

    def close(self) -> None:
        """Answer 503 to all that is under way."""
        for loop, task in self._under_way:
            loop.call_soon_threadsafe(task.cancel)

    def wait_until(self, enough: Callable[[list[Push]], bool], seconds: float = 15.0) -> list[Push]:
        """The pushes so far, once they are `enough`. Fails after `seconds`."""
        with self._changed:
            arrived = self._changed.wait_for(lambda: enough(self.pushes), seconds)
            assert arrived, f"Not enough after {seconds} s: {[push.body[:100] for push in self.pushes]}"
            return list(self.pushes)

    def wait_for(self, count: int, seconds: float = 15.0) -> list[Push]:
        """The same for a number of pushes."""
        return self.wait_until(lambda pushes: len(pushes) >= count, seconds)


def _routes(endpoints: dict[str, Endpoint]) -> list[Route]:
    async def receive(request: Request) -> Response:
        name, _, path = request.url.path.removeprefix("/").partition("/")
        if name not in endpoints:
            return Response(status_code=404)
        push = Push(f"/{path}", dict(request.headers), await request.body(), time.monotonic())
        return Response(status_code=await endpoints[name].receive(push))

    return [Route("/{path:path}", receive, methods=["POST"])]


_ENDPOINTS: dict[str, Endpoint] = {}
_NAMES = map(str, itertools.count(1))


@functools.cache
def _shared_server() -> str:
    # One for all tests: it takes 0.2 s to stop a server.
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(http_serving(_routes(_ENDPOINTS)))


@contextmanager
def receiving(answer: Answer = accept) -> Iterator[Endpoint]:
    """Serve an endpoint that answers each push with the status that `answer` gives; afterwards with 404."""
    name = next(_NAMES)
    _ENDPOINTS[name] = Endpoint(f"{_shared_server()}/{name}", answer)
    try:
        yield _ENDPOINTS[name]
    finally:
        _ENDPOINTS.pop(name).close()


@contextmanager
def receiving_on(port: int, answer: Answer = accept) -> Iterator[Endpoint]:
    """The same on a port of its own, for a time; before and afterwards connections are refused."""
    endpoint = Endpoint(f"http://127.0.0.1:{port}", answer)
    with http_serving(_routes({"": endpoint}), port=port):
        try:
            yield endpoint
        finally:
            endpoint.close()
