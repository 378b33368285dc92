"""Fixtures (as a pytest plugin): the real `tell`, and what it leaves."""

from typing import Any

import pytest

from answer_fn.services import open_tell_services
from answer_fn.settings import Settings
from answer_fn.tell import Services, Teller
from shared.chat.message import message_id
from shared.memory.cases import COLLECTION
from shared.messages.envelope import Question
from shared.messages.names import document_id
from tests.conftest import SmallCloud
from tests.support.loopback import http


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> Services:
    return open_tell_services(Settings(chat_endpoint=small_cloud.places.url))


@pytest.fixture(scope="module")
def teller(services: Services) -> Teller:
    return Teller(lambda: services)


@pytest.fixture
def said(small_cloud: SmallCloud) -> Any:
    """The question's message, as JSON."""

    def read(asked: Question) -> dict[str, Any]:
        name = f"{asked.space}/messages/{message_id(asked.id)}"
        return dict(http.get(f"{small_cloud.places.url}/v1/{name}").json())

    return read


@pytest.fixture
def case(firestore: Any) -> Any:
    """The stored case of a question."""

    def read(asked: Question) -> dict[str, Any]:
        return dict(firestore.collection(COLLECTION).document(document_id(asked.id)).get().to_dict())

    return read
