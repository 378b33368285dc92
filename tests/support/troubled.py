"""Steps whose clients reach one service elsewhere than the rest: where it hangs, or where nobody listens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

import answer_fn.services
import ingest_fn.door
import ingest_fn.services
import reformulate_fn.services
import retrieve_fn.services
from answer_fn.answer import answer
from answer_fn.services import open_tell_services as open_tell
from answer_fn.settings import Settings as AnswerSettings
from answer_fn.tell import Teller
from ingest_fn.settings import Settings as IngestSettings
from local.places import CORPUS, HOST, Places
from reformulate_fn.reformulate import reformulate, show_query
from reformulate_fn.settings import Settings as ReformulateSettings
from retrieve_fn.retrieve import retrieve, show_found
from retrieve_fn.settings import Settings as RetrieveSettings
from shared.messages.envelope import Envelope
from shared.messages.step import Step
from tests.support.factories import context, envelope, push, turn
from tests.support.fuzzing import QUESTION, as_json

AUDIENCE = "https://example.com/ingest"
#: The functions that `receiver` can make.
FUNCTIONS = ("ingest", "reformulate", "retrieve", "answer", "tell")
Receive = Callable[[], tuple[Any, int]]
HISTORY = (turn("user", "How do I configure the VPN?"), turn("assistant", "Install the client [1]."))


@dataclass(frozen=True)
class Where:
    """Where each service is: `troubled` is at `bad`, the others are at `good`."""

    good: Places
    bad: Places
    troubled: str

    def of(self, service: str) -> Places:
        """The addresses of the cloud that this service is on."""
        return self.bad if service == self.troubled else self.good

    @property
    def certs_url(self) -> str:
        """Chat's certificates; under `/v1/` the faults of the service `chat` are in front of them."""
        return f"{self.bad.url}/v1/certs" if self.troubled == "certs" else f"{self.good.url}/certs"

    @contextmanager
    def environment(self) -> Iterator[None]:
        """The variables that the SDKs read when their clients are made."""
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("PUBSUB_EMULATOR_HOST", f"{HOST}:{self.of('pubsub').pubsub}")
            environment.setenv("FIRESTORE_EMULATOR_HOST", f"{HOST}:{self.of('firestore').firestore}")
            environment.setenv("GOOGLE_GEMINI_BASE_URL", self.of("gemini").url)
            yield


def receiver(name: str, where: Where, seconds: float, token: str) -> Receive:
    """A step with clients of its own and `seconds` of time; called, it receives a message.

    `token` is what Chat proves itself with.
    """
    with where.environment():
        if name == "ingest":
            return _ingest(where, seconds, token)
        if name == "tell":
            services = open_tell(AnswerSettings(chat_endpoint=where.of("chat").url))
            return lambda: Teller(lambda: services, seconds).receive(*push(envelope()))
        step, sent = _step(name, where, seconds)
        return lambda: step.receive(*push(sent))


def _ingest(where: Where, seconds: float, token: str) -> Receive:
    settings = IngestSettings(
        chat_endpoint=where.of("chat").url,
        chat_audience=AUDIENCE,
        chat_certs_url=where.certs_url,
        questions_per_minute=100_000,
    )
    services = ingest_fn.services.open_services(settings)
    door = ingest_fn.door.Door(lambda: services, seconds, "dead-letters")
    return lambda: door.receive({"Authorization": f"Bearer {token}"}, as_json(QUESTION))


def _step(name: str, where: Where, seconds: float) -> tuple[Step[Any], Envelope]:
    chat = where.of("chat").url
    common: dict[str, Any] = {"name": name, "seconds": seconds, "dead_letter_topic": "dead-letters"}
    if name == "reformulate":
        rewriting = reformulate_fn.services.open_services(ReformulateSettings(chat_endpoint=chat))
        step: Step[Any] = Step(
            stage="understanding",
            services=lambda: rewriting,
            work=reformulate,
            publishes_to="queries",
            afterwards=show_query,
            **common,
        )
        return step, envelope(history=HISTORY)
    if name == "retrieve":
        endpoint = f"http://{HOST}:{where.of('rag').rag}"
        settings = RetrieveSettings(chat_endpoint=chat, rag_corpus=CORPUS, rag_endpoint=endpoint)
        searching = retrieve_fn.services.open_services(settings)
        step = Step(
            stage="searching",
            services=lambda: searching,
            work=retrieve,
            publishes_to="findings",
            afterwards=show_found,
            **common,
        )
        return step, envelope(search_query="VPN")
    writing = answer_fn.services.open_services(AnswerSettings(chat_endpoint=chat))
    step = Step(stage="writing", services=lambda: writing, work=answer, **common)
    # Without contexts no model is asked, which leaves the time to the service that is in trouble.
    contexts = (context(),) if where.troubled == "gemini" else ()
    return step, envelope(search_query="VPN", contexts=contexts)
