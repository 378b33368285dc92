"""A push endpoint for tests: notes every request and answers as the test says."""

import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.http_serving import http_serving


@dataclass(frozen=True)
class Push:
    """One request; `at` is monotonic time in seconds, header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float


Answer = Callable[[Push], Awaitable[int]]


async def accept(_push: Push) -> int:
    """Acknowledge everything."""
    return 204


@dataclass
class Endpoint:
    """Where it listens, and what has arrived."""

    url: str = ""
    pushes: list[Push] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def note(self, push: Push) -> None:
        """Keep a request that has arrived."""
        with self._changed:
            self.pushes.append(push)
            self._changed.notify_all()

    def wait_until(self, enough: Callable[[list[Push]], bool], seconds: float = 15.0) -> list[Push]:
        """The pushes so far, once they are `enough`. Fails after `seconds`."""
        with self._changed:
            arrived = self._changed.wait_for(lambda: enough(self.pushes), seconds)
            assert arrived, f"Not enough after {seconds} s: {[push.body[:100] for push in self.pushes]}"
            return list(self.pushes)

    def wait_for(self, count: int, seconds: float = 15.0) -> list[Push]:
        """The same for a number of pushes."""
        return self.wait_until(lambda pushes: len(pushes) >= count, seconds)


@contextmanager
def receiving(answer: Answer = accept, *, port: int = 0) -> Iterator[Endpoint]:
    """Serve an endpoint that answers each push with the status that `answer` gives."""
    endpoint = Endpoint()

    async def receive(request: Request) -> Response:
        push = Push(request.url.path, dict(request.headers), await request.body(), time.monotonic())
        endpoint.note(push)
        return Response(status_code=await answer(push))

    with http_serving([Route("/{path:path}", receive, methods=["POST"])], port=port) as url:
        endpoint.url = url
        yield endpoint
