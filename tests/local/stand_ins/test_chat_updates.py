"""Updates of messages in the Chat stand-in: masks, spellings, and whose messages the app may change."""

import uuid
from collections.abc import Iterator

import httpx
import pytest

from local.stand_ins.chat.service import Chat
from local.stand_ins.faults import Faults
from local.stand_ins.tokens import Signer
from tests.support.chat_stand_in import IT_SUPPORT, asked, card, chat_serving, created, refused, section


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    chat = Chat(None, Faults(), Signer(), quotas=False)
    with chat_serving(chat) as base, httpx.Client(base_url=base) as client:
        yield client


@pytest.fixture
def new_id() -> str:
    return f"client-{uuid.uuid4()}"


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("mask", ["text,cards_v2", "text,cardsV2", "*"])
def test_a_masked_field_that_is_absent_is_cleared(http: httpx.Client, method: str, mask: str) -> None:
    message = created(http, {"text": "x", **card(section())})
    path = f"/v1/{message['name']}"
    response = http.request(method, path, params={"updateMask": mask}, json={"text": "y"})
    assert response.status_code == 200
    seen = http.get(path).json()
    assert seen["text"] == "y"
    assert "cardsV2" not in seen


def test_a_field_outside_the_mask_stays(http: httpx.Client) -> None:
    message = created(http, {"text": "x", **card(section())})
    body = {"text": "y", "cardsV2": []}
    seen = http.patch(f"/v1/{message['name']}", params={"updateMask": "text"}, json=body).json()
    assert (seen["text"], seen["cardsV2"]) == ("y", message["cardsV2"])


@pytest.mark.parametrize("syntax", ["MARKUP_SYNTAX_MARKDOWN", 2])
def test_the_syntax_goes_with_the_text_by_name_or_number(http: httpx.Client, syntax: str | int) -> None:
    message = created(http, {"text": "x"})
    body = {"text": "y", "markupSyntax": syntax}
    seen = http.put(f"/v1/{message['name']}", params={"updateMask": "text"}, json=body).json()
    assert seen["markupSyntax"] == "MARKUP_SYNTAX_MARKDOWN"


@pytest.mark.parametrize("mask", ["", ",", "txt", "markupSyntax", "text,fallback_text"])
def test_a_mask_that_is_empty_or_unknown_is_refused(http: httpx.Client, mask: str) -> None:
    message = created(http, {"text": "x"})
    response = http.patch(f"/v1/{message['name']}", params={"updateMask": mask}, json={"text": "y"})
    refused(response, 400, "INVALID_ARGUMENT")


def test_an_update_cannot_leave_a_message_empty(http: httpx.Client) -> None:
    message = created(http, {"text": "x"})
    response = http.patch(f"/v1/{message['name']}", params={"updateMask": "text"}, json={})
    refused(response, 400, "INVALID_ARGUMENT")


def test_an_update_of_a_missing_message_is_not_found(http: httpx.Client, new_id: str) -> None:
    path = f"/v1/{IT_SUPPORT}/messages/{new_id}"
    refused(http.patch(path, params={"updateMask": "text"}, json={"text": "y"}), 404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_the_app_changes_only_its_own_messages(http: httpx.Client, method: str) -> None:
    path = f"/v1/{asked(http, 'How?')['name']}"
    query = {"updateMask": "text"} if method == "PATCH" else {}
    response = http.request(method, path, params=query, content=b'{"text": "y"}')
    refused(response, 403, "PERMISSION_DENIED")
