"""The buttons below what the bot says: who may click what, and what comes of it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.cloud.firestore import FieldFilter

from answer_fn.answer import Services as AnswerServices
from answer_fn.answer import answer
from answer_fn.deliver import deliver
from answer_fn.services import open_services as open_answer
from answer_fn.settings import Settings as AnswerSettings
from answer_fn.tell import Teller
from answer_fn.tell import open_services as open_tell
from ingest_fn.door import Door
from reformulate_fn.reformulate import Services as ReformulateServices
from reformulate_fn.reformulate import reformulate
from reformulate_fn.rewrite import Rewriter
from shared.buttons import MOST_AGAIN
from shared.cards import progress
from shared.cases import COLLECTION as CASES
from shared.chat import message_id
from shared.conversations import COLLECTION as THREADS
from shared.deadline import Deadline
from shared.envelope import Envelope, Question
from shared.feedback import COLLECTION as FEEDBACK
from shared.feedback import REASONS
from shared.firestore import document_id
from shared.forgotten import Forgotten
from shared.progress import Progress
from shared.records import Records, Settled
from shared.texts import text
from tests.clicking import Json, buttons_of, click, offered
from tests.conftest import SmallCloud
from tests.factories import context, envelope, push, turn
from tests.golden_events import as_bytes, golden
from tests.ingest_side import AUDIENCE, Ingest, anew
from tests.loopback import http

pytest_plugins = ["tests.event_fixtures"]


FOUND = (context(text="To configure the VPN, install the VPN client. Then configure the VPN profile."),)
OTHER = (context(id="c9", title="VPN", uri="gs://kb/9", text="To configure the VPN, call the help desk."),)


@pytest.fixture(scope="module")
def services(small_cloud: SmallCloud) -> AnswerServices:
    return open_answer(AnswerSettings(chat_endpoint=small_cloud.places.url))


@pytest.fixture(scope="module")
def teller(small_cloud: SmallCloud) -> Teller:
    tell = open_tell(AnswerSettings(chat_endpoint=small_cloud.places.url))
    return Teller(lambda: tell)


@pytest.fixture
def shown(small_cloud: SmallCloud) -> Callable[[Question], Json]:
    """A question's message as it is now."""

    def read(asked: Question) -> Json:
        name = f"{asked.space}/messages/{message_id(asked.id)}"
        return dict(http.get(f"{small_cloud.places.url}/v1/{name}").json())

    return read


@pytest.fixture
def answered(services: AnswerServices, asked: Question, shown: Any) -> Callable[..., Json]:
    """Answer the question as a pipeline with clicks does; returns its message."""

    def work(**fields: Any) -> Json:
        given = {"question": asked, "search_query": "VPN on a Mac", "contexts": FOUND, "button": AUDIENCE}
        answer(envelope(**{**given, **fields}), services, Deadline(60))
        return dict(shown(asked))

    return work


@pytest.fixture
def turns(firestore: Any, asked: Question) -> Callable[[], list[str]]:
    """What is remembered of the question's conversation."""

    def read() -> list[str]:
        document = firestore.collection(THREADS).document(document_id(asked.conversation)).get()
        return [each["text"] for each in (document.to_dict() or {}).get("turns", [])]

    return read


def sent_on(inbox: Any) -> Envelope:
    """The one message that is on its way."""
    [published] = inbox.messages()
    assert inbox.is_empty()
    return Envelope.from_bytes(published.data)


def told(ingest: Ingest, event: Json, key: str) -> bool:
    """Whether a click has led to this sentence."""
    said = ingest.said(event)
    return said is not None and said["text"] == text("ja", "notice", key)


def rated(firestore: Any, asked: Question) -> list[Json]:
    found = firestore.collection(FEEDBACK).where(filter=FieldFilter("question_id", "==", asked.id)).stream()
    return [each.to_dict() for each in found]


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

    assert sent_on(questions).button == expected


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
    Forgotten(firestore).note(asked.conversation, Deadline(5))

    ingest.over_https(event)

    assert rated(firestore, asked) == []
    assert told(ingest, event, "old_button")


def test_a_rating_of_an_answer_that_is_no_more_is_not_taken_for_one_of_the_next(
    ingest: Ingest, answered: Any, shown: Any, asked: Question, firestore: Any, shape: str
) -> None:
    event = click(shape, answered(), verdict="up")
    later = answered(again=1, literal=True, search_query=asked.text, contexts=OTHER)

    ingest.over_https(event)

    assert rated(firestore, asked) == []
    assert told(ingest, event, "old_button")
    assert shown(asked) == later


def test_not_what_i_meant_searches_for_the_question_s_own_words_with_its_history(
    ingest: Ingest, services: AnswerServices, answered: Any, shown: Any, turns: Any, inbox: Any,
    asked: Question, shape: str,
) -> None:  # fmt: skip
    questions = inbox("questions")
    event = click(shape, answered(), action="literal")
    ingest.over_https(event)
    sent = sent_on(questions)
    assert (sent.literal, sent.again, sent.question, sent.button) == (True, 1, asked, AUDIENCE)
    assert offered(shown(asked)) == []  # it shows progress now

    nobody = Rewriter(None, "none")
    words = ReformulateServices(services.outbox, services.failures, services.progress, nobody)
    searched = reformulate(sent.model_copy(update={"history": (turn("user", "Mac?"),)}), words, Deadline(5))
    assert searched.search_query == asked.text
    answer(searched.model_copy(update={"contexts": OTHER}), services, Deadline(60))

    after = shown(asked)
    assert "call the help desk" in after["text"]
    assert "literal" not in offered(after)
    assert len(turns()) == 2
    assert "call the help desk" in turns()[1]


def test_a_click_that_comes_twice_or_late_leads_to_one_answer(
    ingest: Ingest, services: AnswerServices, answered: Any, shown: Any, turns: Any, inbox: Any,
    asked: Question, shape: str,
) -> None:  # fmt: skip
    questions = inbox("questions")
    event = click(shape, answered(), action="literal")
    ingest.over_https(event)
    ingest.over_https(event)
    first, second = questions.messages(2)
    assert first.attributes["ce-id"] == second.attributes["ce-id"]
    for sent in (first, second):
        again = Envelope.from_bytes(sent.data)
        answer(
            again.model_copy(update={"search_query": asked.text, "contexts": OTHER}), services, Deadline(60)
        )
    after = shown(asked)

    ingest.over_https(event)
    answered()  # what had led to the first answer is delivered again

    assert questions.is_empty()
    assert shown(asked) == after
    assert len(turns()) == 2


def test_an_answer_of_before_that_is_posted_late_gives_way_to_the_later_one(
    services: AnswerServices, shown: Any, turns: Any, asked: Question, small_cloud: SmallCloud
) -> None:
    """The first answer's process was slow: it posts when the later one stands already."""
    late = envelope(question=asked, search_query="VPN on a Mac", contexts=FOUND, button=AUDIENCE)
    answer(late, services, Deadline(60))
    stored = services.records.settled(asked.id, Deadline(5))
    assert stored is not None
    later = late.model_copy(update={"again": 1, "search_query": asked.text, "contexts": OTHER})
    answer(later, services, Deadline(60))

    deliver(asked, Settled(stored.final, posted=False), services, Deadline(60))

    assert "call the help desk" in shown(asked)["text"]
    assert len(turns()) == 2
    assert "call the help desk" in turns()[1]


def test_when_the_own_words_find_nothing_the_earlier_answer_is_not_remembered(
    services: AnswerServices, answered: Any, shown: Any, turns: Any, asked: Question
) -> None:
    answered()
    assert len(turns()) == 2

    answered(again=1, literal=True, search_query=asked.text, contexts=())

    assert shown(asked)["text"] == text("en", "answer", "not_found")
    assert turns() == []


@pytest.mark.parametrize("action", ["literal", "again"])
def test_only_whoever_asked_can_have_it_answered_again(
    ingest: Ingest, answered: Any, inbox: Any, shape: str, action: str
) -> None:
    questions = inbox("questions")
    event = click(shape, answered(contexts=()), action=action, person="users/7")

    ingest.over_https(event)

    assert questions.is_empty()
    assert told(ingest, event, "not_yours")


def apologised(teller: Teller, asked: Question, **fields: Any) -> tuple[dict[str, str], bytes]:
    headers, body = push(envelope(question=asked, button=AUDIENCE, **fields), "reformulate")
    letter = {**headers, "Dead-Letter-Step": "retrieve", "Dead-Letter-Reason": "rag_refused"}
    number = f"{asked.id} {fields.get('again', 0)}"
    assert teller.receive({**letter, "X-Goog-Pubsub-Message-Id": number}, body) == ("", 204)
    return headers, body


def test_try_again_below_an_apology_asks_from_the_start_and_the_case_shows_the_answer(
    ingest: Ingest, services: AnswerServices, teller: Teller, shown: Any, inbox: Any, asked: Question,
    firestore: Any, shape: str,
) -> None:  # fmt: skip
    questions = inbox("questions")
    apologised(teller, asked)
    sorry = shown(asked)
    assert offered(sorry) == ["again"]

    ingest.over_https(click(shape, sorry, action="again"))
    sent = sent_on(questions)
    assert (sent.again, sent.literal, sent.search_query) == (1, False, None)
    answer(sent.model_copy(update={"search_query": "VPN", "contexts": FOUND}), services, Deadline(60))

    assert "[1]" in shown(asked)["text"]
    case = firestore.collection(CASES).document(document_id(asked.id)).get().to_dict()
    assert case["answered_at"] is not None


def test_trying_again_what_a_replay_has_answered_meanwhile_leaves_the_answer(
    ingest: Ingest, teller: Teller, answered: Any, shown: Any, inbox: Any, asked: Question, shape: str
) -> None:
    questions = inbox("questions")
    apologised(teller, asked)
    event = click(shape, shown(asked), action="again")
    message = answered()

    ingest.over_https(event)

    assert questions.is_empty()
    assert shown(asked) == message


def test_what_dies_again_after_trying_again_is_told_again_and_opens_its_case(
    teller: Teller, answered: Any, shown: Any, asked: Question, firestore: Any
) -> None:
    apologised(teller, asked)
    case = firestore.collection(CASES).document(document_id(asked.id))
    case.update({"state": "replayed", "replays": 1, "answered_at": datetime.now(UTC)})

    apologised(teller, asked, again=1)
    apologised(teller, asked)  # a late copy of the first letter

    kept = case.get().to_dict()
    assert (kept["state"], kept["answered_at"], kept["again"]) == ("open", None, 1)
    assert b'"again":1' in kept["data"]
    [again] = buttons_of(shown(asked))
    assert {"key": "again", "value": "1"} in again["onClick"]["action"]["parameters"]
    assert "[1]" in answered(again=1)["text"]


def test_a_dead_letter_of_a_question_asked_again_takes_the_place_of_its_answer(
    teller: Teller, answered: Any, shown: Any, asked: Question
) -> None:
    answered()

    apologised(teller, asked, again=1)

    assert offered(shown(asked)) == ["again"]


def test_a_dead_letter_of_before_does_not_take_the_place_of_a_later_answer(
    teller: Teller, answered: Any, shown: Any, asked: Question
) -> None:
    answered(again=1)
    before = shown(asked)

    apologised(teller, asked)

    assert shown(asked) == before


def test_a_question_is_not_tried_again_for_ever(teller: Teller, shown: Any, asked: Question) -> None:
    apologised(teller, asked, again=MOST_AGAIN - 1)
    assert offered(shown(asked)) == ["again"]

    apologised(teller, asked, again=MOST_AGAIN)

    assert offered(shown(asked)) == []


def test_trying_again_counts_among_the_questions_of_a_minute(
    small_cloud: SmallCloud, teller: Teller, shown: Any, asked: Question, inbox: Any, shape: str
) -> None:
    questions, ingest = inbox("questions"), Ingest(small_cloud, {"questions_per_minute": 1})
    person = f"users/{abs(hash(asked.id))}"
    mine = asked.model_copy(update={"person": person})
    apologised(teller, mine)
    event = click(shape, shown(mine), action="again", person=person)
    for _ in range(2):
        ingest.over_https(event)
    assert len(questions.messages(2)) == 2
    apologised(teller, mine, again=1)
    another = click(shape, shown(mine), action="again", person=person)

    ingest.over_https(another)

    assert questions.is_empty()
    said = ingest.said(another)
    assert said is not None
    assert said["text"] == text("ja", "notice", "too_many", most=1)


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
    writes = Progress(chat, Records(firestore, 24))

    writes.show(asked, progress("en", "searching"), Deadline(5))
    assert offered(shown(asked))
    writes.show(asked, progress("en", "searching"), Deadline(5), again=1)

    assert offered(shown(asked)) == []
