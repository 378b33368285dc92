"""The CloudEvents binding: attributes that survive as headers, ids that survive a redelivery."""

import uuid

import pytest

from shared.runtime.cloudevent import Message, data_of, derived_id, message, received_attributes
from shared.runtime.errors import Permanent
from tests.support.factories import TRACE, envelope, push


def test_a_message_has_all_attributes_of_a_cloudevent() -> None:
    attributes = message(b"{}", question_id="spaces/A/messages/B", step="ingest", trace=TRACE).attributes

    assert attributes["ce-specversion"] == "1.0"
    assert attributes["ce-type"] == "threadwise.ingest.v1"
    assert attributes["ce-source"] == "//threadwise/ingest"
    assert attributes["content-type"] == "application/json"
    assert uuid.UUID(attributes["ce-id"])


def test_ids_are_the_same_again_for_the_same_question_and_step_only() -> None:
    assert derived_id("spaces/A/messages/B", "ingest") == derived_id("spaces/A/messages/B", "ingest")
    assert derived_id("spaces/A/messages/B", "ingest") != derived_id("spaces/A/messages/B", "retrieve")
    assert derived_id("spaces/A/messages/B", "ingest") != derived_id("spaces/A/messages/C", "ingest")


@pytest.mark.parametrize(
    "attributes",
    [
        {"content-type": "application/json", "dead_letter": "gunicorn drops it"},
        {"content-type": "application/json", "x": "日本語"},
        {"content-type": "application/json", "x": "a\nb"},
        {"content-type": "application/json", "x": "a" * 257},
        {"content-type": "application/json", "X": "upper case"},
        {"x": "no content type"},
        {"content-type": "application/json", **{f"x{number}": "1" for number in range(30)}},
    ],
)
def test_what_cannot_travel_as_a_header_is_refused(attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="attribute"):
        Message(b"", attributes)


def test_the_data_of_a_push_is_what_was_published() -> None:
    headers, body = push(envelope())

    assert data_of(headers, body) == body


@pytest.mark.parametrize(
    "headers, body",
    [
        ({}, b"{}"),
        ({"Content-Type": "application/json"}, b'{"message": {"data": "e30="}}'),
        ({"ce-specversion": "9.9", "ce-id": "1", "ce-type": "t", "ce-source": "s"}, b"{}"),
        ({"ce-specversion": "1.0", "ce-id": "1"}, b"{}"),
        ({"ce-specversion": "1.0", "ce-id": "1", "ce-type": "t", "ce-source": "s"}, b""),
    ],
)
def test_what_is_no_cloudevent_is_permanent(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(Permanent, match="not_a_cloudevent"):
        data_of(headers, body)


def test_only_the_message_s_own_headers_are_its_attributes() -> None:
    headers, _ = push(envelope())
    noise = {"Host": "x", "Authorization": "Bearer secret", "Ce-Bad": "日本", "Replay-Count": "2"}

    attributes = received_attributes({**headers, **noise})

    assert set(attributes) == {name.lower() for name in headers} | {"replay-count"}
