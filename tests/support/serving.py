"""Serve a gRPC stand-in from a background thread, so that blocking SDK clients can call it from a test."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Protocol

import grpc

from local.stand_ins.faults import Faults
from local.stand_ins.grpc_server import GrpcServer

_START_STOP_SECONDS = 20.0


class StandIn(Protocol):
    """What `local.stand_ins.pubsub` and `local.stand_ins.firestore` offer to whoever runs them."""

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The handlers of its gRPC services."""

    async def start(self) -> None:
        """Open its state and begin its work."""

    async def stop(self) -> None:
        """End its work and close its state."""


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        future: Future[Any] = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.result(_START_STOP_SECONDS)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_START_STOP_SECONDS)
        self._loop.close()


@contextmanager
def serving(service: str, stand_in: StandIn, faults: Faults, *, port: int = 0) -> Iterator[str]:
    """Run `stand_in` in an event loop of its own, behind the faults of `service`; yields "127.0.0.1:port"."""
    loop = _Loop()
    server = GrpcServer(service, stand_in.handlers(), faults)

    started = AsyncExitStack()

    async def start() -> None:
        await stand_in.start()
        started.push_async_callback(stand_in.stop)
        started.push_async_callback(server.stop)
        await server.start(port)

    try:
        loop.run(start())
        yield f"127.0.0.1:{server.port}"
    finally:
        loop.run(started.aclose())
        loop.end()
