"""Mistakes that chat bots with a memory are known for, each as the rule that it breaks.

Rules that other tests hold, by the mistake:
    a turn overwrites the one before      test_conversations: two_turns_of_one_thread_are_both_kept
    a question is in its own history      test_conversations: a_question_is_never_in_its_own_history
    acknowledged before it is safe        test_ingest: the_question_is_published_before_chat_is_answered,
                                          test_step: it_is_not_acknowledged_before_the_follow_up_is_stored,
                                          test_pipeline: a_function_killed_in_the_middle_loses_no_question
    an error is swallowed, then acked     test_step: no_exception_leaves_the_step,
                                          test_pubsub_contract: dead letters after the last attempt
    errors are shown to people            test_step: no_exception_leaves_the_step, test_tell: the apology
    history is cut in the middle          test_conversations: the_oldest_turns_go_before_it_is_too_big
    citations of what was not retrieved   test_compose: a_citation_of_what_was_not_retrieved_is_dropped
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

import answer_fn.services
import reformulate_fn.services
from answer_fn.answer import Services, answer
from answer_fn.prompts import prompt as answer_prompt
from answer_fn.services import open_tell_services as open_tell
from answer_fn.settings import Settings as AnswerSettings
from answer_fn.tell import Teller
from ingest_fn.door import Door
from ingest_fn.services import open_services as open_ingest
from ingest_fn.settings import Settings as IngestSettings
from reformulate_fn.prompts import prompt as rewrite_prompt
from reformulate_fn.reformulate import reformulate
from reformulate_fn.settings import Settings as ReformulateSettings
from shared.chat.cards import progress
from shared.chat.message import message_id
from shared.language.catalogue import text
from shared.memory.conversations import COLLECTION, MOST_BYTES
from shared.messages.envelope import Envelope, Question
from shared.messages.names import document_id
from shared.messages.step import Step
from shared.pipeline import pipeline
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent
from tests.conftest import Inbox, SmallCloud
from tests.ingest_fn.test_ingest import body, event
from tests.support import remembering
from tests.support.factories import SPACE, context, envelope, push, question, turn
from tests.support.loopback import http
from tests.support.stack import AIKOS_DM, SALES

AUDIENCE = "https://example.com/ingest"


@pytest.fixture
def open_door(small_cloud: SmallCloud) -> Callable[[], Door]:
    """A door with clients of its own, as in a process that has just started."""
    url = small_cloud.places.url
    settings = IngestSettings(
        chat_endpoint=url,
        chat_audience=AUDIENCE,
        chat_certs_url=f"{url}/certs",
        questions_per_minute=100_000,
    )

    def make() -> Door:
        services = open_ingest(settings)
        return Door(lambda: services, 25, "dead-letters")

    return make


@pytest.fixture
def proof(small_cloud: SmallCloud) -> dict[str, str]:
    return {"Authorization": f"Bearer {small_cloud.cloud.signer.mint(audience=AUDIENCE)}"}


@pytest.fixture
def open_answer(small_cloud: SmallCloud) -> Callable[[], Services]:
    """The services of answering, with clients of their own."""
    settings = AnswerSettings(chat_endpoint=small_cloud.places.url)
    return lambda: answer_fn.services.open_services(settings)


@pytest.fixture
def shown(small_cloud: SmallCloud) -> Callable[[Question], dict[str, Any]]:
    """A question's message as JSON."""

    def read(asked: Question) -> dict[str, Any]:
        name = f"{asked.space}/messages/{message_id(asked.id)}"
        response = http.get(f"{small_cloud.places.url}/v1/{name}")
        found = dict(response.raise_for_status().json())
        return {key: value for key, value in found.items() if key != "lastUpdateTime"}

    return read


def asked_in(space: str, words: str, **options: Any) -> dict[str, Any]:
    """An event of the same person, in another space."""
    return dict(json.loads(json.dumps(event(words, **options)).replace(SPACE, space)))


def direct(words: str) -> dict[str, Any]:
    """An event of a message at the top level of a direct message, where every message has a new thread."""
    given = asked_in(AIKOS_DM, words)
    return {**given, "space": {"name": AIKOS_DM, "spaceType": "DIRECT_MESSAGE"}}


def envelopes(inbox: Inbox, count: int) -> list[Envelope]:
    return [Envelope.from_bytes(message.data) for message in inbox.messages(count)]


def test_what_a_person_said_in_a_direct_message_is_in_no_prompt_of_a_space(
    open_door: Callable[[], Door], proof: dict[str, str], inbox: Any
) -> None:
    questions = inbox("questions")
    door = open_door()
    secret = f"my salary is 4711 {id(questions)}"
    for given in (direct(secret), asked_in(SALES, "and in more detail?"), direct("and then?")):
        assert door.receive(proof, body(given)) == ({}, 200)

    first, in_the_space, again = envelopes(questions, 3)
    prompts = [write(in_the_space) for write in (rewrite_prompt, answer_prompt)]
    assert first.question.conversation == again.question.conversation == AIKOS_DM
    assert in_the_space.question.person == again.question.person
    assert not any(secret in said for said in prompts)
    assert secret in rewrite_prompt(again)


def test_two_events_at_the_same_moment_stay_in_their_own_space_and_thread(
    open_door: Callable[[], Door], proof: dict[str, str], inbox: Any
) -> None:
    questions = inbox("questions")
    door = open_door()
    spaces = (SPACE, SPACE, SALES, SALES) * 3
    given = [asked_in(space, f"question {number}") for number, space in enumerate(spaces)]

    with ThreadPoolExecutor(len(given)) as pool:
        answers = list(pool.map(lambda one: door.receive(proof, body(one)), given))

    assert answers == [({}, 200)] * len(given)
    published = {sent.question.id: sent for sent in envelopes(questions, len(given))}
    for one in given:
        sent = published[one["message"]["name"]]
        assert sent.question.thread == one["message"]["thread"]["name"]
        assert sent.question.space == one["space"]["name"]
        assert sent.question.text == one["message"]["argumentText"].strip()
        assert sent.history == ()


def about(topic: str) -> Envelope:
    """Findings about one product and nothing else."""
    words = f"How do I set up {topic}?"
    found = context(id=topic, title=topic, uri=topic, text=f"To set up {topic}, ask {topic} support.")
    return envelope(question=question(text=words), search_query=words, contexts=(found,))


def test_answers_given_at_the_same_moment_share_neither_thread_nor_sources(
    open_answer: Callable[[], Services], shown: Any, firestore: Any
) -> None:
    services = open_answer()
    topics = [f"Product{number}" for number in range(6)]
    sent = {topic: about(topic) for topic in topics}

    with ThreadPoolExecutor(len(sent)) as pool:
        list(pool.map(lambda one: answer(one, services, Deadline(60)), sent.values()))

    for topic in topics:
        message = shown(sent[topic].question)
        said = message["text"] + json.dumps(message["cardsV2"])
        document = firestore.collection(COLLECTION).document(document_id(sent[topic].question.conversation))
        assert [other for other in topics if other in said] == [topic]
        assert [other for other in topics if other in str(document.get().to_dict())] == [topic]


def test_a_question_whose_first_delivery_failed_is_published_when_chat_sends_it_again(
    open_door: Callable[[], Door], proof: dict[str, str], inbox: Any, faults: Any
) -> None:
    questions = inbox("questions")
    given = body(event())
    door = open_door()
    faults.switch_on("pubsub-down")
    hasty = Door(lambda: door.services, 1, "dead-letters")
    assert hasty.receive(proof, given)[1] == 503
    faults.switch_off()

    assert door.receive(proof, given) == ({}, 200)
    [sent] = envelopes(questions, 1)
    assert sent.history == ()


@pytest.mark.slow
def test_a_question_whose_first_delivery_failed_is_answered_by_the_second(
    open_answer: Callable[[], Services], shown: Any, faults: Any, firestore: Any
) -> None:
    services = open_answer()
    step = Step("answer", "writing", 30, lambda: services, answer, "dead-letters")
    sent = envelope(search_query="VPN", contexts=(context(),))
    faults.switch_on("gemini-down")
    assert step.receive(*push(sent)) == ("", 503)
    faults.switch_off()

    assert step.receive(*push(sent)) == ("", 204)

    assert "[1]" in shown(sent.question)["text"]
    document = firestore.collection(COLLECTION).document(document_id(sent.question.conversation))
    assert len(document.get().get("turns")) == 2


def test_a_process_that_starts_between_two_deliveries_knows_what_was_done(
    open_answer: Callable[[], Services], shown: Any, firestore: Any, faults: Any
) -> None:
    sent = envelope(search_query="VPN", contexts=(context(),))
    answer(sent, open_answer(), Deadline(60))
    first = shown(sent.question)
    faults.switch_on("gemini-down")

    answer(sent, open_answer(), Deadline(60))

    assert shown(sent.question) == first
    document = firestore.collection(COLLECTION).document(document_id(sent.question.conversation))
    assert len(document.get().get("turns")) == 2


def test_a_door_that_opens_between_two_deliveries_sends_the_same_event_again(
    open_door: Callable[[], Door], proof: dict[str, str], inbox: Any, firestore: Any
) -> None:
    questions = inbox("questions")
    given = event()
    for _ in range(2):
        open_door().receive(proof, body(given))

    first, second = questions.messages(2)
    recorded = (
        firestore.collection(COLLECTION).document(document_id(given["message"]["thread"]["name"])).get()
    )
    assert first.attributes["ce-id"] == second.attributes["ce-id"]
    assert len(recorded.get("pending")) == 1


def test_a_full_history_with_questions_waiting_still_takes_a_turn(firestore: Any) -> None:
    first = question()

    def later(number: int, text: str) -> Question:
        moment = first.asked_at + timedelta(seconds=number)
        return first.model_copy(update={"id": f"{first.id}-{number}", "text": text, "asked_at": moment})

    for number in range(3):
        long = "x" * (MOST_BYTES // 3 - 1_000)
        remembering.answer(firestore, later(number, "?"), long)
    waiting = [later(number, "y" * 30_000) for number in range(10, 20)]
    for asked in waiting:
        remembering.wait_for(firestore, asked)

    remembering.answer(firestore, waiting[0], "Like this.")

    turns = firestore.collection(COLLECTION).document(document_id(first.conversation)).get().get("turns")
    assert [entry["text"] for entry in turns[-2:]] == [waiting[0].text, "Like this."]


def test_an_event_with_two_messages_is_kept_whole_and_not_answered_by_halves(
    open_door: Callable[[], Door], proof: dict[str, str], inbox: Any
) -> None:
    questions, dead_letters = inbox("questions"), inbox("dead-letters")
    batch = {"messages": [{"message": event(words)["message"]} for words in ("one", "two")]}

    assert open_door().receive(proof, body(batch)) == ({}, 200)

    [kept] = dead_letters.messages()
    assert json.loads(kept.data) == batch
    assert questions.is_empty()


@pytest.mark.parametrize("name, stage", [(step.name, step.stage) for step in pipeline().steps[1:]])
def test_a_failure_at_any_stage_ends_in_a_final_message_with_a_reference(
    open_answer: Callable[[], Services],
    small_cloud: SmallCloud,
    inbox: Any,
    shown: Any,
    name: str,
    stage: Any,
) -> None:
    dead_letters = inbox("dead-letters")
    services = open_answer()
    sent = envelope()

    def fails(given: Envelope, services: Services, deadline: Deadline) -> None:
        raise Permanent("gemini_blocked", "SAFETY")

    services.chat.post_progress(sent.question, progress("en", stage), Deadline(5))
    step = Step(name, stage, 30, lambda: services, fails, "dead-letters")
    assert step.receive(*push(sent)) == ("", 204)
    [parked] = dead_letters.messages()
    tell = open_tell(AnswerSettings(chat_endpoint=small_cloud.places.url))
    assert Teller(lambda: tell).receive(dict(parked.attributes), parked.data) == ("", 204)

    message = shown(sent.question)
    assert "TW-" in message["text"]
    assert "SAFETY" not in str(message) and "gemini" not in str(message)
    assert text("en", "progress", stage) not in str(message)


def test_a_reply_at_the_top_level_of_a_direct_message_names_no_thread(
    open_answer: Callable[[], Services], shown: Any
) -> None:
    asked = question(id=f"{AIKOS_DM}/messages/D1.D1", space=AIKOS_DM, conversation=AIKOS_DM, thread=None)
    services = open_answer()

    services.chat.post_progress(asked, progress("en", "writing"), Deadline(5))
    answer(envelope(question=asked, search_query="VPN", contexts=(context(),)), services, Deadline(60))

    assert "[1]" in shown(asked)["text"]


@pytest.mark.parametrize(
    "said",
    [
        "Hello",
        "Thanks!",
        "Yes",
        "ありがとうございます",
        "Does error E305 on Windows 11 need build 22631?",
        "VPN-2000の料金は？",
    ],
)
def test_a_rewrite_keeps_what_was_said_and_answers_nothing(small_cloud: SmallCloud, said: str) -> None:
    services = reformulate_fn.services.open_services(
        ReformulateSettings(chat_endpoint=small_cloud.places.url)
    )
    history = (turn("user", "How do I configure the VPN?"), turn("assistant", "Install the client [1]."))

    sent = envelope(question=question(text=said), history=history)
    query = reformulate(sent, services, Deadline(30)).search_query

    assert query is not None
    assert query.startswith(said)
    assert "client" not in query.removeprefix(said)
