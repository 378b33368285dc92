"""The one Chat message of a question: written often, there once."""

from typing import Any

import pytest

from local.places import Places
from shared.chat.api import fits
from shared.chat.buttons import ratings
from shared.chat.cards import progress
from shared.chat.message import Chat, Content, message_id
from shared.language.catalogue import text
from shared.messages.envelope import Question
from shared.pipeline import pipeline
from shared.runtime import clients
from shared.runtime.cloudevent import seconds_of
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from tests.conftest import SmallCloud
from tests.support.chat_stand_in import AIKO_DM
from tests.support.factories import SPACE, ending, question
from tests.support.loopback import http

FINAL = Content(text="Install the client [1].")


def endpoint(places: Places) -> str:
    return places.url.removeprefix("http://")


def in_thread(chat: Chat, asked: Question, small_cloud: SmallCloud) -> list[dict[str, Any]]:
    """What the bot says in the question's thread, as the page shows it."""
    state = http.get(f"{small_cloud.places.url}/page/state").json()
    return [
        message
        for message in state["messages"]
        if message["thread"]["name"] == asked.thread and message["sender"]["type"] == "BOT"
    ]


def by_id(asked: Question, small_cloud: SmallCloud, role: str = "") -> dict[str, Any]:
    """A message of the question, wherever it is."""
    name = f"{asked.space}/messages/{message_id(asked.id, role=role)}"
    response = http.get(f"{small_cloud.places.url}/v1/{name}")
    return dict(response.raise_for_status().json())


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


def test_progress_is_dropped_once_chat_has_refused_a_write_and_the_answer_is_not(
    chat: Chat, asked: Question, faults: Any, small_cloud: SmallCloud
) -> None:
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))
    faults.switch_on("chat-throttled")
    with pytest.raises(Transient, match="chat_throttled"):
        chat.update_progress(asked, progress("en", "searching"), Deadline(5))
    faults.switch_off("chat-throttled")
    before = by_id(asked, small_cloud)

    assert not chat.update_progress(asked, progress("en", "writing"), Deadline(5))
    assert by_id(asked, small_cloud) == before
    chat.put_final(asked, FINAL, Deadline(20))
    assert by_id(asked, small_cloud)["text"] == FINAL.text


def test_a_part_behind_a_deleted_one_is_taken_back(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    chat.put_final(asked, FINAL, Deadline(20), more=PARTS)
    name = f"{SPACE}/messages/{message_id(asked.id, role='part 1')}"
    clients.chat(endpoint(small_cloud.places)).delete_message(name=name)

    chat.put_final(asked, Content("Shorter."), Deadline(20), parts=3)

    assert texts(chat, asked, small_cloud) == ["Shorter.", text("en", "answer", "taken_back")]


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


def test_the_placeholder_tells_people_and_leaves_nothing_behind(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))
    [placeholder] = in_thread(chat, asked, small_cloud)
    chat.put_final(asked, FINAL, Deadline(10))

    [message] = in_thread(chat, asked, small_cloud)
    assert placeholder["text"] == text("en", "progress", "title")
    assert not placeholder.get("silent")
    assert message["text"] == FINAL.text
    assert "fallbackText" not in message


PARTS = [Content("Part two."), Content("Part three.")]


def test_every_text_names_its_syntax(chat: Chat, asked: Question, small_cloud: SmallCloud) -> None:
    """Without it, the Chat app's own setting decides what `**bold**` looks like."""
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))
    placeholder = in_thread(chat, asked, small_cloud)
    chat.put_final(asked, FINAL, Deadline(20), more=PARTS)

    for message in (*placeholder, *in_thread(chat, asked, small_cloud)):
        assert message["markupSyntax"] == "MARKUP_SYNTAX_MARKDOWN"


def texts(chat: Chat, asked: Question, small_cloud: SmallCloud) -> list[str]:
    return [message["text"] for message in in_thread(chat, asked, small_cloud)]


def test_all_parts_stand_in_the_question_s_thread_once(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    chat.post_progress(asked, progress("en", "understanding"), Deadline(5))
    for _ in range(2):
        chat.put_final(asked, FINAL, Deadline(20), more=PARTS)

    assert texts(chat, asked, small_cloud) == [FINAL.text, "Part two.", "Part three."]


def test_parts_of_an_earlier_answer_do_not_stay_and_are_not_deleted(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    chat.put_final(asked, FINAL, Deadline(20), more=PARTS)
    for _ in range(2):
        chat.put_final(asked, Content("Shorter."), Deadline(20), more=[Content("Other.")], parts=3)

    taken_back = text("en", "answer", "taken_back")
    assert texts(chat, asked, small_cloud) == ["Shorter.", "Other.", taken_back]


def test_a_longer_answer_takes_the_place_of_a_shorter_one(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    chat.put_final(asked, Content("Sorry."), Deadline(20))
    chat.put_final(asked, FINAL, Deadline(20), more=PARTS)

    assert texts(chat, asked, small_cloud) == [FINAL.text, "Part two.", "Part three."]


def test_a_deleted_part_is_replaced(chat: Chat, asked: Question, small_cloud: SmallCloud) -> None:
    chat.put_final(asked, FINAL, Deadline(20), more=PARTS)
    name = f"{SPACE}/messages/{message_id(asked.id, role='part 1')}"
    clients.chat(endpoint(small_cloud.places)).delete_message(name=name)

    chat.put_final(asked, FINAL, Deadline(20), more=PARTS)

    assert texts(chat, asked, small_cloud) == [FINAL.text, "Part three.", "Part two."]


def test_a_thread_that_chat_does_not_know_is_left_out_and_the_parts_stay_together(
    chat: Chat, small_cloud: SmallCloud
) -> None:
    lost = question(thread="spaces/ELSEWHERE/threads/T")

    chat.put_final(lost, FINAL, Deadline(20), more=PARTS)

    found = [by_id(lost, small_cloud, role) for role in ("", "part 1", "part 2")]
    assert [message["text"] for message in found] == [FINAL.text, "Part two.", "Part three."]
    assert len({message["thread"]["name"] for message in found}) == 1


def test_in_a_direct_message_a_top_level_question_is_answered_without_a_thread(
    chat: Chat, small_cloud: SmallCloud
) -> None:
    direct = question(space=AIKO_DM, id=f"{AIKO_DM}/messages/Q.Q", conversation=AIKO_DM, thread=None)

    chat.put_final(direct, FINAL, Deadline(20), more=PARTS[:1])

    assert "threadReply" not in by_id(direct, small_cloud)
    assert by_id(direct, small_cloud, "part 1")["text"] == "Part two."


BAD_CARD = {"card_id": "answer", "card": {"sections": [{"header": "Nothing", "widgets": []}]}}


@pytest.mark.parametrize("posted", [False, True])
@pytest.mark.parametrize("bare, said", [("Bare.", "Bare."), ("", "With a card.")])
def test_when_chat_refuses_the_card_plain_text_goes_out(
    chat: Chat, asked: Question, small_cloud: SmallCloud, posted: bool, bare: str, said: str
) -> None:
    if posted:
        chat.post_progress(asked, progress("en", "understanding"), Deadline(5))

    chat.put_final(asked, Content("With a card.", [BAD_CARD], bare), Deadline(20))

    [message] = in_thread(chat, asked, small_cloud)
    assert message["text"] == said
    assert not message.get("cardsV2")


@pytest.mark.parametrize("widgets, size", [(101, 1), (40, 1_000)])
def test_a_card_that_chat_would_cut_or_refuse_is_not_sent(
    chat: Chat, asked: Question, small_cloud: SmallCloud, widgets: int, size: int
) -> None:
    widget = {"text_paragraph": {"text": "x" * size}}
    card = {"card_id": "answer", "card": {"sections": [{"widgets": [widget] * widgets}]}}

    chat.put_final(asked, Content("With a card.", [card], "Bare."), Deadline(20))

    assert texts(chat, asked, small_cloud) == ["Bare."]


def test_japanese_counts_six_bytes_a_character() -> None:
    rows = [{"text_paragraph": {"text": "あ" * 1_000}}] * 4
    card = {"card_id": "answer", "card": {"sections": [{"widgets": rows}]}}

    assert fits(Content("x" * 1_000, [card]))
    assert not fits(Content("あ" * 1_200, [card]))
    assert not fits(Content("x" * 4_001))


def test_where_the_card_is_refused_the_words_go_out_without_buttons(
    chat: Chat, asked: Question, small_cloud: SmallCloud
) -> None:
    thumbs = ratings(ending("answer", "Fine.", click_target="threadwise"), asked)
    chat.put_final(asked, Content("Fine.", [], "", thumbs), Deadline(20))
    chat.put_final(asked, Content("Words.", [BAD_CARD], "", thumbs), Deadline(20))

    name = f"{asked.space}/messages/{message_id(asked.id)}"
    said = http.get(f"{small_cloud.places.url}/v1/{name}").json()
    assert said["text"] == "Words."
    assert not said.get("accessoryWidgets")


def test_what_chat_refuses_in_every_form_is_permanent(chat: Chat, asked: Question) -> None:
    with pytest.raises(Permanent, match="chat_refused"):
        chat.put_final(asked, Content(" ", [BAD_CARD]), Deadline(20))


def test_the_card_shows_the_query_and_what_runs(small_cloud: SmallCloud) -> None:
    [card] = progress("ja", "searching", "<b>VPN</b>の設定").cards
    rows = [widget["decorated_text"] for widget in card["card"]["sections"][0]["widgets"]]

    assert [row["start_icon"]["material_icon"]["name"] for row in rows] == [
        "check_circle",
        "progress_activity",
        *["radio_button_unchecked"] * (len(pipeline().stages) - 2),
    ]
    assert rows[1]["text"] == "検索中：&lt;b&gt;VPN&lt;/b&gt;の設定"


def test_the_card_tells_how_long_the_steps_took_that_are_done() -> None:
    way = {"way": "ingest@1764500581+0.2 reformulate@1764500582+1.1 retrieve@1764500583+0.9"}
    cards = progress("en", "writing", "VPN", seconds=seconds_of(way)).cards
    rows = [widget["decorated_text"] for widget in cards[0]["card"]["sections"][0]["widgets"]]

    assert [row.get("bottom_label") for row in rows] == [
        "1.3 s",
        "0.9 s",
        *[None] * (len(pipeline().stages) - 2),
    ]
    [running] = progress("en", "searching", "VPN", seconds=seconds_of(way)).cards
    assert "0.9 s" not in str(running)
