"""The small cloud: every stand-in on loopback, in one event loop."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from local.page.api import Page
from local.page.operator.api import OperatorApi
from local.page.routes import page_routes
from local.places import BUCKET, HOST, Places, PortTaken
from local.runner.connect import topic_path
from local.stand_ins.chat.service import Chat
from local.stand_ins.faults import Faults
from local.stand_ins.firestore.service import Firestore
from local.stand_ins.gemini.service import Gemini
from local.stand_ins.grpc_server import GrpcServer
from local.stand_ins.pubsub.server import PubSub
from local.stand_ins.rag.corpora import LOCAL, Corpora
from local.stand_ins.rag.data import RagData
from local.stand_ins.rag.service import Rag
from local.stand_ins.scheduler import Scheduler
from local.stand_ins.storage.service import Storage
from local.stand_ins.tokens import Signer
from shared.pipeline import pipeline

KNOWLEDGE = Path(__file__).resolve().parents[2] / "knowledge"


class _Server(uvicorn.Server):
    """A server without signal handlers: the runner decides when to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listening(port: int) -> socket.socket:
    # asyncio turns off Nagle's algorithm only for sockets that name their protocol. With the algorithm, every
    # answer in two parts waits 40 ms.
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((HOST, port))
        server.listen(128)
    except OSError:
        server.close()
        raise
    return server


class Cloud:
    """Pub/Sub, Firestore, Cloud Scheduler, RAG Engine, Cloud Storage, Gemini, Google Chat and the chat page.

    `quotas`: whether Chat enforces its quotas. `official`: Google's emulators run on the ports of Pub/Sub and
    Firestore, so these two stand-ins do not listen.
    """

    def __init__(
        self,
        places: Places,
        faults: Faults,
        *,
        knowledge: Path = KNOWLEDGE,
        quotas: bool = True,
        official: bool = False,
    ) -> None:
        self._places = places
        self._corpora = Corpora(places.file("rag.sqlite"), knowledge)
        self._storage = Storage(places.file("storage.sqlite"))
        self._rag_data = RagData(self._corpora, self._storage.objects)
        self.signer = Signer()
        self._faults = faults
        self.chat = Chat(places.file("chat.sqlite"), faults, self.signer, quotas=quotas)
        #: The routes that the chat page calls.
        self.page = Page(self.chat)
        self._gemini = Gemini(self._corpora.indexes[LOCAL], faults)
        self._operator = OperatorApi(places)
        self._firestore = Firestore(places.file("firestore.sqlite"))
        self._pubsub = self._new_pubsub()
        self._grpc = {
            "rag": GrpcServer("rag", [*Rag(self._corpora).handlers(), *self._rag_data.handlers()], faults)
        }
        if not official:
            self._grpc["pubsub"] = GrpcServer("pubsub", self._pubsub.handlers(), faults)
            self._grpc["firestore"] = GrpcServer("firestore", self._firestore.handlers(), faults)
        self._scheduler = Scheduler(places.sweep_url, pipeline().sweep.minutes * 60.0)
        self._started = contextlib.AsyncExitStack()
        self._http: asyncio.Task[None] | None = None
        self._server: _Server | None = None

    async def start(self) -> None:
        """Listen on all ports. Raises PortTaken; `stop()` then stops what was already started."""
        self._storage.start()
        self._started.callback(self._storage.stop)
        self._corpora.open()
        self._started.callback(self._corpora.close)
        self._started.push_async_callback(self._rag_data.stop)
        await self._listen_http()
        self._started.push_async_callback(self._stop_http)
        await self._firestore.start()
        self._started.push_async_callback(self._firestore.stop)
        for service, server in self._grpc.items():
            port: int = getattr(self._places, service)
            self._started.push_async_callback(self._stop_grpc, service)
            try:
                await server.start(port)
            except OSError as error:
                raise PortTaken(port) from error
        await self._pubsub.start()
        await self.chat.start(self._places.door, self._places.door, self.publish_event)
        await self._scheduler.start()

    async def stop(self) -> None:
        """End the events and deliveries under way, then close every port and every file."""
        await self._scheduler.stop()
        await self._operator.stop()
        await self.chat.stop()
        await self._pubsub.stop()
        await self._started.aclose()

    async def _stop_grpc(self, service: str) -> None:
        await self._grpc[service].stop()  # looked up by name, because Pub/Sub may have been restarted

    async def _stop_http(self) -> None:
        if self._server is not None and self._http is not None:
            # Calls that a fault still holds are cut off. They need no traceback.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            self._server.should_exit = True
            await self._http

    @property
    def idle(self) -> bool:
        """Whether every event of Chat is answered and every message of our Pub/Sub is acknowledged."""
        return not self.chat.sending and not self._pubsub.undelivered

    async def restart_pubsub(self) -> None:
        """Stop Pub/Sub and start it again from its file, as after a crash. No message may be lost."""
        await self._grpc["pubsub"].stop()
        await self._pubsub.stop()
        self._pubsub = self._new_pubsub()
        self._grpc["pubsub"] = GrpcServer("pubsub", self._pubsub.handlers(), self._faults)
        await self._pubsub.start()
        await self._grpc["pubsub"].start(self._places.pubsub)

    def _new_pubsub(self) -> PubSub:
        return PubSub(self._places.file("pubsub.sqlite"), self._faults, self.signer.mint)

    async def publish_event(self, event: bytes) -> None:
        """Publish an event as Chat does, to the topic of its events."""
        await self._pubsub.publish(topic_path(pipeline().chat_events), event)

    async def _listen_http(self) -> None:
        try:
            listening = _listening(self._places.http)
        except OSError as error:
            raise PortTaken(self._places.http) from error
        app = Starlette(routes=self._routes())
        config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
        self._server = _Server(config)
        self._http = asyncio.create_task(self._server.serve(sockets=[listening]))
        while not self._server.started:  # noqa: ASYNC110 - uvicorn tells it by this flag alone
            await asyncio.sleep(0.01)

    def _routes(self) -> list[BaseRoute]:
        article = Route("/knowledge/{path:path}", self._article)
        return [
            *self._gemini.routes(),
            *self.chat.routes(),
            *self.page.routes(),
            *self._storage.routes(),
            *self._operator.routes(),
            article,
            *page_routes(),
        ]

    async def _article(self, request: Request) -> Response:
        """An article from the corpus of the bot. The links of the sources lead here."""
        text = self._corpora.article(f"{BUCKET}/{request.path_params['path']}")
        if text is None:
            return PlainTextResponse("There is no such article.", status_code=404)
        return PlainTextResponse(text)
