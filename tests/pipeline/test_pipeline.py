"""A question and its follow-up through the four functions, served as in production."""

import socket
from typing import Any

import pytest
from google.cloud.firestore_v1.base_query import FieldFilter

from local.places import HOST
from shared.language.catalogue import text
from shared.memory.conversations import COLLECTION
from shared.memory.feedback import COLLECTION as FEEDBACK
from shared.messages.names import document_id
from shared.pipeline import pipeline
from tests.support.factories import envelope, push
from tests.support.factories import question as asked_as
from tests.support.loopback import http
from tests.support.stack import AIKOS_DM, SALES, Stack
from tests.support.waiting import until

pytest_plugins = ["tests.support.stack_fixtures"]
pytestmark = pytest.mark.slow

VPN_EN, VPN_JA = "How do I configure the VPN?", "VPNの設定方法を教えて"


def converse(stack: Stack, *questions: str, **options: Any) -> list[dict[str, Any]]:
    """The final messages of questions that are asked one after the other in one thread."""
    finals, thread = [], None
    for question in questions:
        asked = stack.ask(question, thread=thread, **options)
        thread = asked["thread"]["name"]
        finals.append(stack.final(asked))
    return finals


def titles(final: dict[str, Any]) -> str:
    return " ".join(source["title"] for source in final["sources"])


def test_a_question_is_answered_in_its_thread_with_a_source(stack: Stack) -> None:
    asked = stack.ask(VPN_EN)
    final = stack.final(asked)

    said = stack.said(asked)
    assert said["text"] == final["text"]
    assert said["thread"] == asked["thread"]
    assert "VPN" in titles(final)
    assert "[1]" in said["text"]
    assert text("en", "answer", "hint", hours="24") in said["text"]


def test_a_follow_up_is_searched_for_with_what_it_refers_to(stack: Stack) -> None:
    first, second = converse(stack, VPN_EN, "Can you explain in more detail?")

    assert first["search_query"] == VPN_EN
    assert "VPN" in second["search_query"]
    assert "VPN" in titles(second)
    assert second["text"] != first["text"]


def test_clicks_have_a_follow_up_answered_in_its_own_words_and_rate_an_answer(stack: Stack) -> None:
    first = stack.ask(VPN_EN)
    stack.final(first)
    thread = first["thread"]["name"]
    follow_up = stack.ask("Can you explain in more detail?", thread=thread)
    assert "VPN" in stack.final(follow_up)["search_query"]

    stack.click(stack.said(follow_up), action="literal")
    stack.click(stack.said(first), verdict="up")

    literal = stack.final(follow_up, answer_number=1)
    assert literal["search_query"] == "Can you explain in more detail?"
    asked = ("question_id", "in", [first["name"], follow_up["name"]])
    rated = stack.firestore.collection(FEEDBACK).where(filter=FieldFilter(*asked))
    found = until(lambda: list(rated.stream()), "the rating is stored")
    assert [(each.get("question_id"), each.get("verdict")) for each in found] == [(first["name"], "up")]
    assert len(stack.of_the_bot(thread)) == 2
    turns = stack.firestore.collection(COLLECTION).document(document_id(thread)).get().get("turns")
    assert [turn["question_id"] for turn in turns if turn["question_id"] == follow_up["name"]] == []


def test_a_japanese_follow_up_too(stack: Stack) -> None:
    first, second = converse(stack, VPN_JA, "もっと詳しく", locale="ja")

    assert "VPN" in second["search_query"]
    assert "VPN" in titles(first)
    assert "VPN" in titles(second)
    assert text("ja", "answer", "hint", hours="24") in first["text"]


def test_a_new_topic_is_not_dragged_back_to_the_old_one(stack: Stack) -> None:
    question = "How do I reset my password?"

    *_, third = converse(stack, VPN_EN, "Can you explain in more detail?", question)

    assert third["search_query"] == question
    assert "password" in titles(third).lower()
    assert "VPN" not in titles(third)


def test_another_thread_remembers_nothing(stack: Stack) -> None:
    converse(stack, VPN_EN)
    question = "Can you explain in more detail?"

    [elsewhere] = converse(stack, question)
    [in_another_space] = converse(stack, question, space=SALES)

    assert elsewhere["search_query"] == in_another_space["search_query"] == question


def test_a_direct_message_is_one_conversation_across_its_threads(stack: Stack) -> None:
    first = stack.ask(VPN_EN, space=AIKOS_DM)
    stack.final(first)
    second = stack.ask("Can you explain in more detail?", space=AIKOS_DM)

    assert first["thread"] != second["thread"]
    assert "VPN" in stack.final(second)["search_query"]


def test_what_is_not_in_the_knowledge_base_is_said_honestly(stack: Stack) -> None:
    [final] = converse(stack, "What is the airspeed velocity of an unladen swallow?")

    assert not final["answered"]
    assert final["text"] == text("en", "answer", "not_found")


def test_a_conversation_is_kept_for_a_day_in_one_document(stack: Stack) -> None:
    asked = stack.ask(VPN_EN)
    stack.final(asked)

    document = stack.firestore.collection(COLLECTION).document(document_id(asked["thread"]["name"])).get()
    fields = document.to_dict()
    assert fields is not None
    assert [turn["role"] for turn in fields["turns"]] == ["user", "assistant"]
    assert 23.9 < (fields["expired_at"] - fields["updated_at"]).total_seconds() / 3600 <= 24


def test_the_scheduler_s_call_reaches_the_sweep(stack: Stack) -> None:
    port = stack.places.functions[pipeline().teller.name]
    until(lambda: socket.socket().connect_ex((HOST, port)) == 0, "`tell` is up, after the steps")

    assert http.post(stack.places.sweep_url).status_code == 204
    assert '"message": "Swept"' in (stack.places.logs / "tell.log").read_text()


@pytest.mark.parametrize("fault", ["pubsub-duplicate", "pubsub-late"])
def test_deliveries_that_come_twice_or_late_lead_to_one_answer(stack: Stack, fault: str) -> None:
    before = stack.faults.hits.get(fault, 0)
    stack.faults.switch_on(fault, seconds=1)
    asked = stack.ask(VPN_EN)
    stack.final(asked)
    stack.faults.switch_off()

    assert len(stack.of_the_bot(asked["thread"]["name"])) == 1
    assert stack.faults.hits[fault] >= before + 3


@pytest.mark.parametrize("name", [step.name for step in pipeline().steps[1:]])
def test_a_function_killed_in_the_middle_loses_no_question(stack: Stack, name: str) -> None:
    stack.faults.switch_on("firestore-slow", seconds=0.3)
    asked = stack.ask(VPN_EN)
    stack.functions.kill(name)
    stack.faults.switch_off()

    assert stack.final(asked)["answered"]
    assert len(stack.of_the_bot(asked["thread"]["name"])) == 1


def test_pub_sub_itself_restarted_loses_no_question(stack: Stack) -> None:
    stack.faults.switch_on("gemini-slow", seconds=1)
    asked = stack.ask(VPN_EN)
    stack.run(stack.cloud.restart_pubsub())

    assert stack.final(asked)["answered"]


def test_a_question_that_cannot_be_answered_is_in_the_dead_letters_and_no_other_waits_for_it(
    stack: Stack,
) -> None:
    stack.faults.switch_on("gemini-blocked")
    blocked = stack.ask(VPN_EN)
    log = stack.places.logs / "answer.log"
    until(
        lambda: any(blocked["name"] in line and "Parked" in line for line in log.read_text().splitlines()),
        "it is parked",
    )
    stack.faults.switch_off()

    assert converse(stack, VPN_EN)[0]["answered"]


def test_a_request_whose_caller_goes_away_half_way_is_no_dead_letter(stack: Stack) -> None:
    """gunicorn hands over as much of a body as there was, without a word."""
    headers, body = push(envelope(question=asked_as(text="How do I print? " * 100)), "retrieve")
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    address = (HOST, stack.places.functions["answer"])
    with socket.create_connection(address, timeout=10) as connection:
        lines = f"POST / HTTP/1.1\r\nHost: here\r\n{head}Content-Length: {len(body)}\r\n\r\n"
        connection.sendall(lines.encode() + body[:50])
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(1000)

    assert b" 503 " in answer.splitlines()[0]
    assert "cut_off" in (stack.places.logs / "answer.log").read_text()
    assert not any(
        case.get("data") == body[:50] for case in stack.firestore.collection("dead_letters").stream()
    )
