"""What the Chat stand-in refuses: empty and oversized messages, cards Chat would not show, too many calls."""

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from local.stand_ins.chat.quotas import Quotas
from local.stand_ins.chat.service import Chat
from local.stand_ins.faults import Faults
from local.stand_ins.http_gate import RestError
from local.stand_ins.tokens import Signer
from tests.support.chat_stand_in import (
    IT_SUPPORT,
    SALES,
    asked,
    card,
    chat_serving,
    create,
    created,
    refused,
    section,
)
from tests.support.waiting import until

Json = dict[str, Any]


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    chat = Chat(None, Faults(), Signer(), quotas=False)
    with chat_serving(chat) as base, httpx.Client(base_url=base) as client:
        yield client


@pytest.mark.parametrize("body", [{}, {"text": " "}, {"accessoryWidgets": []}])
def test_an_empty_message_is_refused(http: httpx.Client, body: Json) -> None:
    refused(create(http, body), 400, "INVALID_ARGUMENT")


def test_text_of_more_than_4096_characters_is_refused(http: httpx.Client) -> None:
    assert len(created(http, {"text": "あ" * 4096})["text"]) == 4096
    refused(create(http, {"text": "あ" * 4097}), 400, "INVALID_ARGUMENT")


def test_the_size_limit_counts_the_bytes_on_the_wire(http: httpx.Client) -> None:
    body = card(section(text="あ" * 5_400))
    assert created(http, body)["cardsV2"], "16 kB in UTF-8"
    escaped = json.dumps(body).encode()
    response = http.post(f"/v1/{IT_SUPPORT}/messages", content=escaped)
    assert "32000 bytes" in refused(response, 400, "INVALID_ARGUMENT")


def test_an_update_cannot_grow_a_message_past_the_limit(http: httpx.Client) -> None:
    message = created(http, card(section(text="x" * 30_000)))
    response = http.patch(f"/v1/{message['name']}", params={"updateMask": "text"}, json={"text": "y" * 4_000})
    refused(response, 400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    "body",
    [
        {"text": "x", "txet": "y"},
        card(section(), header={"title": "t", "imageURL": "https://x"}),
        card(section(), header={"subtitle": "no title"}),
        card({"header": "no widgets"}),
        card({"widgets": [{}]}),
        card({"widgets": [{"buttonList": {"buttons": [{"text": "no onClick"}]}}]}),
        card({"widgets": [{"buttonList": {"buttons": [{"text": "b", "onClick": {}}]}}]}),
        card({"widgets": [{"buttonList": {"buttons": [{"text": "b", "onClick": {"openLink": {}}}]}}]}),
        card({"widgets": [{"decoratedText": {"text": "t", "onClick": {"action": {}}}}]}),
        card(section(), fixedFooter={}),
        {"cardsV2": [{"card": {"sections": [section()]}}] * 2},
        {"text": "x", "accessoryWidgets": [{"buttonList": {"buttons": [{"text": "b", "onClick": {}}]}}]},
    ],
)
def test_a_card_that_chat_would_not_show_is_refused(http: httpx.Client, body: Json) -> None:
    refused(create(http, body), 400, "INVALID_ARGUMENT")


def test_sections_from_the_hundredth_widget_on_vanish_silently(http: httpx.Client) -> None:
    message = created(http, card(section(60, "a"), section(41, "b"), section(1, "c")))
    sections = message["cardsV2"][0]["card"]["sections"]
    assert [len(one["widgets"]) for one in sections] == [60]


@pytest.mark.parametrize("content", [b"{", b"[]", b'"x"', b"\xff", b'{"text": 5}', b'{"text": "\\ud800"}'])
def test_a_body_that_is_no_message_is_refused(http: httpx.Client, content: bytes) -> None:
    refused(http.post(f"/v1/{IT_SUPPORT}/messages", content=content), 400, "INVALID_ARGUMENT")


@pytest.mark.slow
def test_a_third_write_within_a_second_is_refused_until_time_has_passed() -> None:
    with (
        chat_serving(Chat(None, Faults(), Signer())) as base,
        httpx.Client(base_url=base) as http,
    ):
        answers = [create(http, {"text": "x"}) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        refused(answers[2], 429, "RESOURCE_EXHAUSTED")
        assert create(http, {"text": "x"}, SALES).status_code == 200, "every space has its own quota"
        assert asked(http, "How?")["text"] == "How?", "people have no quota"
        refused_at = time.monotonic()
        until(lambda: create(http, {"text": "x"}).status_code == 200, "the quota is free again", 3)
        assert time.monotonic() > refused_at + 0.5


def test_fifteen_reads_a_second_pass_and_no_more() -> None:
    now = [0.0]
    quotas = Quotas(lambda: now[0])
    allowed = 0
    for tenth in range(100):
        now[0] = tenth / 10
        for _ in range(5):
            with contextlib.suppress(RestError):
                quotas.read(IT_SUPPORT)
                allowed += 1
    assert allowed == pytest.approx(15 * 9.9 + 16, abs=1)
