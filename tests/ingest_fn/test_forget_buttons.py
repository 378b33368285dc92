"""Forgetting with a button: the bot asks for a confirmation, and a click gives it."""

from typing import Any

import pytest

from shared.language.catalogue import text
from shared.memory.forgotten import COLLECTION as FORGOTTEN
from tests.support.forgetting import forget, new_thread
from tests.support.golden_events import golden, with_message
from tests.support.ingest_side import GROUP, Ingest, anew

pytest_plugins = ["tests.support.event_fixtures", "tests.support.forget_fixtures"]


def button_of(said: dict[str, Any]) -> dict[str, Any]:
    """The action of the one button in a message."""
    [section] = said["cardsV2"][0]["card"]["sections"]
    action: dict[str, Any] = section["widgets"][0]["buttonList"]["buttons"][0]["onClick"]["action"]
    return action


def click(shape: str, said: dict[str, Any], **changed: str) -> dict[str, Any]:
    """The event of a click on that button."""
    action = button_of(said)
    parameters = {each["key"]: each["value"] for each in action["parameters"]} | changed
    event = with_message(anew(golden(f"{shape}-clicked")), name=said["name"], thread=said["thread"])
    if shape == "classic":
        event["common"] |= {"invokedFunction": action["function"], "parameters": parameters}
        event["thread"] = said["thread"]
    else:
        event["commonEventObject"]["parameters"] = parameters
    return event


def test_a_click_confirms_in_place_of_the_words(ingest: Ingest, remember: Any, kept: Any, shape: str) -> None:
    thread = new_thread()
    remember(thread, GROUP)
    event = forget(shape, thread, "")
    ingest.over_https(event)
    said = ingest.said(event)
    assert said is not None

    assert ingest.over_https(click(shape, said)) == ({}, 200)

    assert kept(thread) == []
    after = ingest.said(event)
    assert after is not None
    assert after["text"] == text("ja", "notice", "forgotten")
    assert not after.get("cardsV2")


def test_an_add_on_s_button_calls_our_url(ingest: Ingest) -> None:
    event = forget("add-on", new_thread(), "")
    ingest.over_https(event)
    said = ingest.said(event)
    assert said is not None

    assert button_of(said)["function"] == "https://example.com/ingest"


def test_where_clicks_may_not_arrive_there_is_no_button(ingest: Ingest, shape: str) -> None:
    event = forget(shape, new_thread(), "")
    ingest.over_pubsub(event)
    said = ingest.said(event)

    assert said is not None
    assert "/forget" in said["text"]
    assert not said.get("cardsV2")


@pytest.mark.parametrize("other", ["spaces/AAAAsalestyo/threads/T", "spaces/AAAAsalestyo", "", f"{GROUP}x"])
def test_a_button_forgets_nothing_of_another_space(
    ingest: Ingest, remember: Any, firestore: Any, shape: str, other: str
) -> None:
    event = forget(shape, new_thread(), "")
    ingest.over_https(event)
    said = ingest.said(event)
    assert said is not None
    clicked = click(shape, said, conversation=other)

    ingest.over_https(clicked)

    recorded = [each.to_dict()["name"] for each in firestore.collection(FORGOTTEN).stream()]
    assert other not in recorded
    told = ingest.said(clicked)
    assert told is not None
    assert told["text"] == text("ja", "notice", "old_button")
