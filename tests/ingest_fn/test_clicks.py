"""The buttons below what the bot says: who may click what, and what comes of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answer_fn.tell import Teller
from ingest_fn.door import Door
from shared.chat.cards import progress
from shared.chat.display import Display
from shared.language.catalogue import text
from shared.memory.feedback import REASONS
from shared.memory.forgotten import Forgotten
from shared.memory.records import Records
from shared.messages.envelope import Question
from shared.runtime.deadline import Deadline
from tests.conftest import SmallCloud
from tests.support.clicking import OTHER, Json, buttons_of, click, offered, rated, sent_on, told
from tests.support.golden_events import as_bytes, golden
from tests.support.ingest_side import AUDIENCE, Ingest, anew

pytest_plugins = ["tests.support.click_fixtures", "tests.support.event_fixtures"]


def test_an_answer_can_be_rated_questioned_and_forgotten_where_clicks_arrive(answered: Any) -> None:
    message = answered()

    assert offered(message) == ["literal", "forget_this", "rate", "rate"]
    functions = {
        each["onClick"]["action"]["function"] for each in buttons_of(message) if "action" in each["onClick"]
    }
    assert functions == {AUDIENCE}


def test_where_no_click_arrives_there_is_no_button(answered: Any, teller: Teller, asked: Question) -> None:
    message = answered(button=None)

    assert offered(message) == []
    assert "I searched for: VPN on a Mac" in str(message["cardsV2"])
    assert "accessoryWidgets" not in message


def test_the_question_s_own_words_need_no_second_search(answered: Any, asked: Question) -> None:
    assert "literal" not in offered(answered(search_query=asked.text))


@pytest.mark.parametrize("connection, expected", [("https", AUDIENCE), ("pubsub", None)])
def test_a_question_tells_on_its_way_what_a_click_would_call(
    ingest: Ingest, inbox: Any, shape: str, connection: str, expected: str | None
) -> None:
    questions = inbox("questions")

    ingest.by(connection)(anew(golden(f"{shape}-message-in-space")))

    assert sent_on(questions).click_target == expected


def test_a_thumb_is_kept_with_all_that_led_to_the_answer_and_shows(
    ingest: Ingest, answered: Any, shown: Any, asked: Question, firestore: Any, shape: str
) -> None:
    message = answered()

    assert ingest.over_https(click(shape, message, verdict="up", person="users/7")) == ({}, 200)

    [kept] = rated(firestore, asked)
    assert (kept["verdict"], kept["reason"], kept["question"]) == ("up", None, asked.text)
    assert (kept["search_query"], kept["sources"], kept["model"]) == (
        "VPN on a Mac",
        ["c1"],
        "gemini-3.5-flash",
    )
    assert timedelta(days=89) < kept["expired_at"] - datetime.now(UTC) <= timedelta(days=90)
    assert "users/7" not in str(kept)
    after = shown(asked)
    up, down = after["accessoryWidgets"][0]["buttonList"]["buttons"]
    assert (up["text"], up["icon"]["materialIcon"]["fill"]) == (text("en", "button", "thanks"), True)
    assert "text" not in down
    assert (after["text"], after["cardsV2"]) == (message["text"], message["cardsV2"])


def test_a_thumb_down_asks_why_and_the_reason_is_kept(
    ingest: Ingest, answered: Any, shown: Any, asked: Question, firestore: Any, shape: str
) -> None:
    ingest.over_https(click(shape, answered(), verdict="down"))
    asking = shown(asked)
    assert len(buttons_of_row(asking)) == 2 + len(REASONS)

    ingest.over_https(click(shape, asking, reason="outdated"))

    [kept] = rated(firestore, asked)
    assert (kept["verdict"], kept["reason"]) == ("down", "outdated")
    assert len(buttons_of_row(shown(asked))) == 2


def buttons_of_row(message: Json) -> list[Json]:
    return list(message["accessoryWidgets"][0]["buttonList"]["buttons"])


def test_who_changes_their_mind_replaces_it_and_another_person_does_not(
    ingest: Ingest, answered: Any, asked: Question, firestore: Any, shape: str
) -> None:
    message = answered()
    first = click(shape, message, verdict="up")
    ingest.over_https(first)
    ingest.over_https(click(shape, message, verdict="down"))
    ingest.over_https(first)  # as when Chat repeats itself, late
    assert [each["verdict"] for each in rated(firestore, asked)] == ["down"]

    ingest.over_https(click(shape, message, verdict="up", person="users/7"))

    assert sorted(each["verdict"] for each in rated(firestore, asked)) == ["down", "up"]


def test_a_rating_of_what_is_forgotten_or_elsewhere_is_not_kept(
    ingest: Ingest, answered: Any, asked: Question, firestore: Any, shape: str
) -> None:
    event = click(shape, answered(), verdict="up")
    there = as_bytes(event).replace(asked.space.encode(), b"spaces/AAAAsalestyo")
    mine = asked.id.replace(asked.space, "spaces/AAAAsalestyo")
    ingest.over_https(there.replace(mine.encode(), asked.id.encode()))
    Forgotten(firestore).record(asked.conversation, asked.asked_at, Deadline(5))

    ingest.over_https(event)

    assert rated(firestore, asked) == []
    assert told(ingest, event, "old_button")


def test_a_rating_of_an_answer_that_is_no_more_is_not_taken_for_one_of_the_next(
    ingest: Ingest, answered: Any, shown: Any, asked: Question, firestore: Any, shape: str
) -> None:
    event = click(shape, answered(), verdict="up")
    later = answered(answer_number=1, literal=True, search_query=asked.text, contexts=OTHER)

    ingest.over_https(event)

    assert rated(firestore, asked) == []
    assert told(ingest, event, "old_button")
    assert shown(asked) == later


def test_the_forget_button_asks_for_the_same_confirmation_as_the_command(
    ingest: Ingest, answered: Any, turns: Any, shape: str
) -> None:
    event = click(shape, answered(), action="forget_this", person="users/7")
    ingest.over_https(event)
    asking = ingest.said(event)
    assert asking is not None
    assert asking["text"] == text("ja", "forget", "thread")
    assert len(turns()) == 2

    ingest.over_https(click(shape, asking, action="forget"))

    assert turns() == []


def test_a_click_while_firestore_is_down_comes_again(
    small_cloud: SmallCloud, answered: Any, faults: Any, asked: Question, firestore: Any, shape: str
) -> None:
    ingest = Ingest(small_cloud)
    event = click(shape, answered(), verdict="up")
    ingest.door = Door(lambda: ingest.services, 2, "dead-letters")
    faults.switch_on("firestore-down")

    assert ingest.over_https(event)[1] == 503

    faults.switch_off()
    ingest.door = Door(lambda: ingest.services, 25, "dead-letters")
    assert ingest.over_https(event) == ({}, 200)
    assert len(rated(firestore, asked)) == 1


def test_a_click_without_a_token_is_refused(
    ingest: Ingest, answered: Any, asked: Question, firestore: Any
) -> None:
    body = as_bytes(click("classic", answered(), verdict="up"))

    assert ingest.door.receive({}, body)[1] == 401

    assert rated(firestore, asked) == []


def test_progress_is_shown_for_what_is_asked_again_and_not_for_what_is_answered(
    firestore: Any, chat: Any, answered: Any, shown: Any, asked: Question
) -> None:
    answered()
    writes = Display(chat, Records(firestore, 24))

    writes.progress(asked, progress("en", "searching"), Deadline(5))
    assert offered(shown(asked))
    writes.progress(asked, progress("en", "searching"), Deadline(5), answer_number=1)

    assert offered(shown(asked)) == []
