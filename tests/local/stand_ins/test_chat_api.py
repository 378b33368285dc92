"""The Chat stand-in's REST API, as Google's client and as plain HTTP see it."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.api_core import exceptions
from google.apps import card_v1, chat_v1
from google.protobuf import field_mask_pb2

from local.stand_ins.chat.service import Chat
from local.stand_ins.faults import Faults
from local.stand_ins.tokens import Signer
from tests.support.chat_stand_in import (
    AIKO_DM,
    IT_SUPPORT,
    SALES,
    asked,
    chat_client,
    chat_serving,
    create,
    created,
    refused,
)
from tests.support.waiting import until

FALLBACK = "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD"
OR_FAIL = "REPLY_MESSAGE_OR_FAIL"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


@pytest.fixture(scope="module")
def faults() -> Faults:
    return Faults()


@pytest.fixture(scope="module")
def base(signer: Signer, faults: Faults) -> Iterator[str]:
    with chat_serving(Chat(None, faults, signer, quotas=False)) as url:
        yield url


@pytest.fixture
def new_id() -> str:
    return f"client-{uuid.uuid4()}"


@pytest.fixture(scope="module")
def http(base: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=base) as client:
        yield client


@pytest.fixture(scope="module")
def client(base: str) -> Any:
    return chat_client(base)


def status_card(text: str) -> Any:
    paragraph = card_v1.Widget(text_paragraph=card_v1.TextParagraph(text=text))
    section = card_v1.Card.Section(widgets=[paragraph])
    return chat_v1.CardWithId(card_id="status", card=card_v1.Card(sections=[section]))


# Google's client


def test_the_client_turns_its_card_into_the_answer_by_the_id_it_gave(client: Any, new_id: str) -> None:
    card_message = client.create_message(
        chat_v1.CreateMessageRequest(
            parent=IT_SUPPORT, message_id=new_id, message=chat_v1.Message(cards_v2=[status_card("…")])
        )
    )
    answer = chat_v1.Message(
        name=f"{IT_SUPPORT}/messages/{new_id}",
        text="**日本語**",
        markup_syntax=chat_v1.MarkupSyntax.MARKUP_SYNTAX_MARKDOWN,
    )
    mask = field_mask_pb2.FieldMask(paths=["text", "cards_v2", "accessory_widgets"])
    client.update_message(chat_v1.UpdateMessageRequest(message=answer, update_mask=mask))
    seen = client.get_message(name=card_message.name)
    assert (seen.text, len(seen.cards_v2), seen.markup_syntax) == ("**日本語**", 0, 2)
    assert seen.client_assigned_message_id == new_id
    assert seen.last_update_time > seen.create_time


def test_a_message_is_gone_after_the_client_deletes_it(client: Any) -> None:
    message = client.create_message(parent=IT_SUPPORT, message=chat_v1.Message(text="x"))
    client.delete_message(name=message.name)
    with pytest.raises(exceptions.NotFound):
        client.get_message(name=message.name)


def test_the_client_learns_that_an_id_is_taken(client: Any, new_id: str) -> None:
    request = chat_v1.CreateMessageRequest(
        parent=IT_SUPPORT, message_id=new_id, message=chat_v1.Message(text="x")
    )
    client.create_message(request)
    with pytest.raises(exceptions.Conflict):
        client.create_message(request)


def test_the_client_replies_in_the_thread_of_a_question(client: Any, http: httpx.Client) -> None:
    question = asked(http, "How?")
    reply = client.create_message(
        chat_v1.CreateMessageRequest(
            parent=IT_SUPPORT,
            message=chat_v1.Message(text="x", thread=chat_v1.Thread(name=question["thread"]["name"])),
            message_reply_option=FALLBACK,
        )
    )
    assert (reply.thread.name, reply.thread_reply) == (question["thread"]["name"], True)


def test_enums_come_as_numbers_to_who_asks_for_them_as_the_client_does(http: httpx.Client) -> None:
    body = {"text": "x", "markupSyntax": "MARKUP_SYNTAX_CHAT"}
    message = created(http, body, **{"$alt": "json;enum-encoding=int"})
    assert (message["markupSyntax"], message["sender"]["type"]) == (1, 2)
    assert http.get(f"/v1/{message['name']}").json()["markupSyntax"] == "MARKUP_SYNTAX_CHAT"


# Ids


def test_a_root_is_named_twice_after_its_thread_and_a_reply_once(http: httpx.Client) -> None:
    root = created(http, {"text": "x"})
    thread = root["thread"]["name"].rpartition("/")[2]
    assert root["name"] == f"{IT_SUPPORT}/messages/{thread}.{thread}"
    assert "threadReply" not in root
    reply = created(http, {"text": "y", "thread": root["thread"]}, messageReplyOption=FALLBACK)
    assert reply["name"].startswith(f"{IT_SUPPORT}/messages/{thread}.")
    assert reply["name"] != root["name"]


@pytest.mark.parametrize("message_id", ["q1", "client-", "client-Q", "client-a_b", "client-" + "a" * 57])
def test_a_client_id_that_breaks_the_rules_is_refused(http: httpx.Client, message_id: str) -> None:
    refused(create(http, {"text": "x"}, messageId=message_id), 400, "INVALID_ARGUMENT")


def test_a_client_id_may_have_63_characters(http: httpx.Client) -> None:
    message_id = "client-" + "a" * 56
    assert created(http, {"text": "x"}, messageId=message_id)["clientAssignedMessageId"] == message_id


def test_a_client_id_stays_taken_after_its_message_was_deleted(http: httpx.Client, new_id: str) -> None:
    created(http, {"text": "x"}, messageId=new_id)
    assert http.delete(f"/v1/{IT_SUPPORT}/messages/{new_id}").json() == {}
    refused(create(http, {"text": "x"}, messageId=new_id), 409, "ALREADY_EXISTS")


def test_a_client_id_is_taken_in_its_space_only(http: httpx.Client, new_id: str) -> None:
    created(http, {"text": "x"}, messageId=new_id)
    assert created(http, {"text": "x"}, SALES, messageId=new_id)["space"] == {"name": SALES}


# Threads


def test_without_an_option_the_thread_is_ignored(http: httpx.Client) -> None:
    question = asked(http, "How?")
    answer = created(http, {"text": "x", "thread": question["thread"]})
    assert answer["thread"] != question["thread"]


def test_a_reply_to_an_unknown_thread_falls_back_to_a_new_one(http: httpx.Client) -> None:
    body = {"text": "x", "thread": {"name": f"{IT_SUPPORT}/threads/gone"}}
    assert created(http, body, messageReplyOption=FALLBACK)["thread"] != body["thread"]


def test_a_reply_to_an_unknown_thread_fails_when_it_must_reply(http: httpx.Client) -> None:
    body = {"text": "x", "thread": {"name": f"{IT_SUPPORT}/threads/gone"}}
    refused(create(http, body, messageReplyOption=OR_FAIL), 404, "NOT_FOUND")


@pytest.mark.parametrize("option", ["REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD", "2"])
def test_an_option_without_a_thread_is_refused(http: httpx.Client, option: str) -> None:
    refused(create(http, {"text": "x"}, messageReplyOption=option), 400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("name", [f"{SALES}/threads/t", f"{IT_SUPPORT}/messages/t.t", "t"])
def test_a_thread_name_that_is_none_of_this_space_is_refused(http: httpx.Client, name: str) -> None:
    response = create(http, {"text": "x", "thread": {"name": name}}, messageReplyOption=FALLBACK)
    assert "invalid thread resource name" in refused(response, 400, "INVALID_ARGUMENT").lower()


# Reading and refusals


def test_the_app_reads_what_was_said_to_it_and_nothing_else(http: httpx.Client) -> None:
    overheard, mentioned = asked(http, "lunch?"), asked(http, "How?", mention=True)
    direct = asked(http, "How?", AIKO_DM)
    refused(http.get(f"/v1/{overheard['name']}"), 403, "PERMISSION_DENIED")
    assert http.get(f"/v1/{mentioned['name']}").json()["argumentText"] == " How?"
    assert http.get(f"/v1/{direct['name']}").json()["text"] == "How?"


@pytest.mark.parametrize("query", [{"message_id": "client-a"}, {"messageReplyOption": "REPLY"}])
def test_a_query_that_chat_does_not_know_is_refused(http: httpx.Client, query: dict[str, str]) -> None:
    refused(create(http, {"text": "x"}, **query), 400, "INVALID_ARGUMENT")


def test_an_unknown_space_is_not_found(http: httpx.Client) -> None:
    refused(create(http, {"text": "x"}, "spaces/AAAAnowhere"), 404, "NOT_FOUND")
    refused(http.get("/v1/spaces/AAAAnowhere/messages/m"), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/v1/{IT_SUPPORT}/messages"),
        ("GET", f"/v1/{IT_SUPPORT}"),
        ("POST", f"/v1/{IT_SUPPORT}/messages/client-a:replaceCards"),
        ("POST", f"/v1/{IT_SUPPORT}/streamMessages"),
        ("DELETE", f"/v1/{IT_SUPPORT}/messages/client-a?force=true"),
        ("PATCH", f"/v1/{IT_SUPPORT}/messages/client-a?updateMask=text&allowMissing=true"),
        ("POST", f"/v1/{IT_SUPPORT}/messages?createMessageNotificationOptions.notificationType=3"),
    ],
)
def test_what_is_not_implemented_says_so(http: httpx.Client, method: str, path: str) -> None:
    refused(http.request(method, path), 501, "UNIMPLEMENTED")


@pytest.mark.parametrize(
    "fields", [{"privateMessageViewer": {"name": "users/1001"}}, {"thread": {"threadKey": "case-7"}}], ids=str
)
def test_a_field_that_is_not_implemented_is_refused(http: httpx.Client, fields: Json) -> None:
    refused(create(http, {"text": "x", **fields}), 501, "UNIMPLEMENTED")


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
@pytest.mark.parametrize("header", [("Origin", "https://evil.example"), ("Host", "evil.example")], ids=str)
def test_another_site_cannot_call_the_api(http: httpx.Client, method: str, header: tuple[str, str]) -> None:
    name = created(http, {"text": "x"})["name"]
    path = f"/v1/{IT_SUPPORT}/messages" if method == "POST" else f"/v1/{name}"
    response = http.request(method, path, headers=dict([header]), content=b'{"text": "y"}')
    refused(response, 403, "PERMISSION_DENIED")
    assert http.get(f"/v1/{name}").json()["text"] == "x"


def test_a_fault_hits_the_api(http: httpx.Client, faults: Faults) -> None:
    faults.switch_on("chat-down")
    refused(create(http, {"text": "x"}), 503, "UNAVAILABLE")
    faults.switch_off()
    assert created(http, {"text": "x"})["text"] == "x"


def test_what_chat_refuses_for_good_is_permission_denied(http: httpx.Client, faults: Faults) -> None:
    faults.switch_on("chat-refused")
    refused(create(http, {"text": "x"}), 403, "PERMISSION_DENIED")
    faults.switch_off()


CARD = {"cardId": "a", "card": {"sections": [{"widgets": [{"textParagraph": {"text": "x"}}]}]}}


def test_where_cards_are_refused_text_alone_is_taken(http: httpx.Client, faults: Faults) -> None:
    faults.switch_on("chat-refused-cards")
    refused(create(http, {"text": "x", "cardsV2": [CARD]}), 400, "INVALID_ARGUMENT")
    name = created(http, {"text": "x"})["name"]
    change, changed = f"/v1/{name}?updateMask=text,cardsV2", {"text": "y", "cardsV2": [CARD]}
    refused(http.patch(change, json=changed), 400, "INVALID_ARGUMENT")
    faults.switch_off()

    assert http.patch(change, json=changed).json()["cardsV2"] == [CARD]


def test_a_late_write_times_out_and_is_applied_all_the_same(http: httpx.Client, faults: Faults) -> None:
    name = created(http, {"text": "x"})["name"]
    faults.switch_on("chat-late", seconds=3)
    refused(http.patch(f"/v1/{name}?updateMask=text", json={"text": "late"}), 504, "DEADLINE_EXCEEDED")
    faults.switch_off()
    http.patch(f"/v1/{name}?updateMask=text", json={"text": "soon"}).raise_for_status()
    assert http.get(f"/v1/{name}").json()["text"] == "soon"

    until(lambda: http.get(f"/v1/{name}").json()["text"] == "late", "the late write is applied", 10)


# State


def test_messages_threads_and_ids_survive_a_restart(signer: Signer, tmp_path: Path) -> None:
    state = tmp_path / "state" / "chat.sqlite"
    body = {"text": "x"}
    with (
        chat_serving(Chat(state, Faults(), signer)) as base,
        httpx.Client(base_url=base) as http,
    ):
        first = created(http, body, messageId="client-a")
    with (
        chat_serving(Chat(state, Faults(), signer)) as base,
        httpx.Client(base_url=base) as http,
    ):
        assert http.get(f"/v1/{IT_SUPPORT}/messages/client-a").json() == first
        refused(create(http, body, messageId="client-a"), 409, "ALREADY_EXISTS")
        reply = created(http, {**body, "thread": first["thread"]}, messageReplyOption=FALLBACK)
        assert reply["thread"]["name"] == first["thread"]["name"]
