"""Serve Starlette routes on loopback from a background thread, so that blocking clients can call them."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]
START_SECONDS = 10.0


@contextmanager
def http_serving(
    routes: Sequence[BaseRoute], *, lifespan: Lifespan | None = None, port: int = 0
) -> Iterator[str]:
    """Serve `routes` and yield `http://127.0.0.1:PORT`; `lifespan` runs in the server's event loop.

    Raises RuntimeError when the server does not start, OSError when `port` is taken.
    """
    with _listening(port) as listening:
        config = uvicorn.Config(
            Starlette(routes=routes, lifespan=lifespan),
            log_level="error",
            lifespan="off" if lifespan is None else "on",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        options: dict[str, Any] = {"sockets": [listening]}
        thread = threading.Thread(target=server.run, kwargs=options, daemon=True)
        thread.start()
        try:
            _wait_until_started(server, thread)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(START_SECONDS)


def _listening(port: int) -> socket.socket:
    # The protocol is named because asyncio switches Nagle's algorithm off for such sockets alone: answers in
    # two parts would each wait 40 ms for the client's acknowledgement.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError:
        listening.close()
        raise
    return listening


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("The HTTP server did not start")
        time.sleep(0.01)
