"""Fixtures (as a pytest plugin) of answering."""

from typing import Any

import pytest

from answer_fn.answer import Services
from answer_fn.services import open_services
from answer_fn.settings import Settings
from local.runner.cloud import KNOWLEDGE
from local.stand_ins.rag.index import Index
from shared.chat.message import message_id
from shared.messages.envelope import Context, Envelope
from tests.conftest import SmallCloud
from tests.support.loopback import http


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> Services:
    return open_services(Settings(chat_endpoint=small_cloud.places.url))


@pytest.fixture(scope="module")
def found() -> tuple[Context, ...]:
    """What a search for the VPN finds."""
    hits = Index.from_folder(KNOWLEDGE).search("How do I configure the VPN?", 4)
    return tuple(
        Context(
            id=f"c{number}",
            title=hit.chunk.title,
            text=hit.chunk.text,
            uri=hit.chunk.uri,
            link="https://kb.example/vpn",
            distance=hit.distance,
        )
        for number, hit in enumerate(hits)
    )


@pytest.fixture
def message(small_cloud: SmallCloud) -> Any:
    """A Chat message of a question, as JSON; None when there is none."""

    def read(sent: Envelope, role: str = "") -> dict[str, Any] | None:
        name = f"{sent.question.space}/messages/{message_id(sent.question.id, role=role)}"
        response = http.get(f"{small_cloud.places.url}/v1/{name}")
        return None if response.status_code == 404 else dict(response.raise_for_status().json())

    return read
