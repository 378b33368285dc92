"""The one Chat message of a question: written often, there once."""

from typing import Any

import httpx
import pytest

from local.places import Places
from shared import clients
from shared.cards import progress
from shared.chat import Chat, Content, message_id
from shared.deadline import Deadline
from shared.envelope import Question
from shared.errors import Permanent, Transient
from tests.conftest import SmallCloud
from tests.factories import SPACE, question

FINAL = Content(text="Install the client [1].")


def endpoint(places: Places) -> str:
    return places.url.removeprefix("http://")


def in_thread(chat: Chat, asked: Question, small_cloud: SmallCloud) -> list[dict[str, Any]]:
    """What the bot says in the question's thread, as the page shows it."""
    state = httpx.get(f"{small_cloud.places.url}/page/state", trust_env=False).json()
    return [
        message
        for message in state["messages"]
        if message["thread"]["name"] == asked.thread and message["sender"]["type"] == "BOT"
    ]


def test_the_id_is_one_that_chat_accepts_and_always_the_same() -> None:
    identity = message_id("spaces/A/messages/B")

    assert identity.startswith("client-")
    assert len(identity) == 63
    assert identity == message_id("spaces/A/messages/B") != message_id("spaces/A/messages/C")


def test_the_final_message_takes_the_place_of_the_card(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))
    chat.put_final(asked, FINAL, Deadline(10))

    [message] = in_thread(chat, asked, small_cloud)
    assert message["text"] == FINAL.text
    assert not message.get("cardsV2")


def test_without_a_card_the_final_message_is_posted_in_the_thread(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    chat.put_final(asked, FINAL, Deadline(10))

    [message] = in_thread(chat, asked, small_cloud)
    assert message["text"] == FINAL.text


def test_posting_twice_makes_one_message(chat: Chat, asked: Question, small_cloud: SmallCloud) -> None:
    for _ in range(2):
        chat.post_progress(asked, progress("en", "understanding"), Deadline(5))
    for _ in range(2):
        chat.put_final(asked, FINAL, Deadline(10))

    assert len(in_thread(chat, asked, small_cloud)) == 1


def test_a_late_card_does_not_replace_the_final_message(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    chat.put_final(asked, FINAL, Deadline(10))
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))

    [message] = in_thread(chat, asked, small_cloud)
    assert message["text"] == FINAL.text


def test_a_deleted_message_is_replaced_once(chat: Chat, asked: Question, small_cloud: SmallCloud) -> None:
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))
    clients.chat(endpoint(small_cloud.places)).delete_message(name=f"{SPACE}/messages/{message_id(asked.id)}")

    for _ in range(2):
        chat.put_final(asked, FINAL, Deadline(10))

    [message] = in_thread(chat, asked, small_cloud)
    assert message["text"] == FINAL.text


def test_progress_in_a_message_that_is_not_there_is_no_error(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    chat.update_progress(asked, progress("en", "searching", "VPN"), Deadline(5))

    assert in_thread(chat, asked, small_cloud) == []


def test_progress_is_tried_once(chat: Chat, asked: Question, faults: Any) -> None:
    faults.switch_on("chat-throttled")
    before = faults.hits.get("chat-throttled", 0)

    with pytest.raises(Transient, match="chat_throttled"):
        chat.post_progress(asked, progress("en", "understanding"), Deadline(5))

    assert faults.hits["chat-throttled"] == before + 1


def test_the_final_message_outlasts_throttling(
    chat: Chat, asked: Question, faults: Any, small_cloud: SmallCloud
) -> None:
    faults.switch_on("chat-throttled", share=0.4)

    chat.put_final(asked, FINAL, Deadline(30))

    faults.switch_off()
    assert [message["text"] for message in in_thread(chat, asked, small_cloud)] == [FINAL.text]


def test_a_space_that_is_not_there_is_permanent(chat: Chat) -> None:
    nowhere = question(space="spaces/GONE", thread=None, id="spaces/GONE/messages/A.A")

    with pytest.raises(Permanent, match="chat_refused"):
        chat.put_final(nowhere, FINAL, Deadline(5))


def test_the_card_shows_the_query_and_what_runs(small_cloud: SmallCloud) -> None:
    [card] = progress("ja", "searching", "<b>VPN</b>の設定").cards
    rows = [widget["decorated_text"] for widget in card["card"]["sections"][0]["widgets"]]

    assert [row["start_icon"]["material_icon"]["name"] for row in rows] == [
        "check_circle",
        "progress_activity",
        "radio_button_unchecked",
    ]
    assert rows[1]["text"] == "検索中：&lt;b&gt;VPN&lt;/b&gt;の設定"
