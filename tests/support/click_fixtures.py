"""Fixtures (as a pytest plugin) of the tests of clicks: an answer with buttons, and what comes of them."""

from collections.abc import Callable
from typing import Any

import pytest

from answer_fn.answer import Services as AnswerServices
from answer_fn.answer import answer
from answer_fn.services import open_services as open_answer
from answer_fn.services import open_tell_services as open_tell
from answer_fn.settings import Settings as AnswerSettings
from answer_fn.tell import Teller
from shared.chat.message import message_id
from shared.memory.conversations import COLLECTION as THREADS
from shared.messages.envelope import Question
from shared.messages.names import document_id
from shared.runtime.deadline import Deadline
from tests.conftest import SmallCloud
from tests.support.clicking import FOUND, Json
from tests.support.factories import envelope
from tests.support.ingest_side import AUDIENCE
from tests.support.loopback import http


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> AnswerServices:
    return open_answer(AnswerSettings(chat_endpoint=small_cloud.places.url))


@pytest.fixture(scope="module")
def teller(small_cloud: SmallCloud) -> Teller:
    tell = open_tell(AnswerSettings(chat_endpoint=small_cloud.places.url))
    return Teller(lambda: tell)


@pytest.fixture
def shown(small_cloud: SmallCloud) -> Callable[[Question], Json]:
    """A question's message as it is now, however often it was written."""

    def read(asked: Question) -> Json:
        name = f"{asked.space}/messages/{message_id(asked.id)}"
        found = dict(http.get(f"{small_cloud.places.url}/v1/{name}").json())
        return {key: value for key, value in found.items() if key != "lastUpdateTime"}

    return read


@pytest.fixture
def answered(services: AnswerServices, asked: Question, shown: Any) -> Callable[..., Json]:
    """Answer the question as a pipeline with clicks does; returns its message."""

    def work(**fields: Any) -> Json:
        given = {"question": asked, "search_query": "VPN on a Mac", "contexts": FOUND, "button": AUDIENCE}
        answer(envelope(**{**given, **fields}), services, Deadline(60))
        return dict(shown(asked))

    return work


@pytest.fixture
def turns(firestore: Any, asked: Question) -> Callable[[], list[str]]:
    """What is remembered of the question's conversation."""

    def read() -> list[str]:
        document = firestore.collection(THREADS).document(document_id(asked.conversation)).get()
        return [each["text"] for each in (document.to_dict() or {}).get("turns", [])]

    return read
