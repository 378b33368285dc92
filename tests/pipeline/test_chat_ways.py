"""Every way that Chat can be connected, through the four functions as they are served in production."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from ingest_fn.commands import help_text
from tests.support.connecting import CONNECTIONS
from tests.support.loopback import http
from tests.support.stack import HELPDESK, SALES, Stack
from tests.support.waiting import until

pytest_plugins = ["tests.support.stack_fixtures"]
pytestmark = pytest.mark.slow

BENS_DM = "spaces/dmBenAAAAAE"


@pytest.fixture(params=CONNECTIONS, ids=lambda each: " ".join(each.values()))
def connected(stack: Stack, request: pytest.FixtureRequest) -> dict[str, str]:
    post(stack, "connection", request.param)
    return dict(request.param)


def post(stack: Stack, path: str, body: dict[str, Any]) -> dict[str, Any]:
    response = http.post(f"{stack.places.url}/page/{path}", json=body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def do(stack: Stack, path: str, **body: Any) -> dict[str, Any]:
    return post(stack, path, {"person": "users/1001", **body})


def messages(stack: Stack, space: str) -> list[dict[str, Any]]:
    """What the bot has said in a space."""
    state = http.get(f"{stack.places.url}/page/state").json()
    return [
        each
        for each in state["messages"]
        if each["sender"]["type"] == "BOT" and each["space"]["name"] == space
    ]


def said_next(stack: Stack, space: str, act: Callable[[], Any]) -> dict[str, Any]:
    """The one message that the bot says in a space after something was done."""
    before = {each["name"] for each in messages(stack, space)}
    act()
    new = until(
        lambda: [each for each in messages(stack, space) if each["name"] not in before],
        "the bot says something",
    )
    assert len(new) == 1
    return new[0]


def test_a_question_and_its_follow_up_are_answered(stack: Stack, connected: dict[str, str]) -> None:
    first = stack.ask("How do I configure the VPN?")
    assert stack.final(first)["answered"]
    second = stack.ask("Can you explain in more detail?", thread=first["thread"]["name"])

    assert "VPN" in stack.final(second)["search_query"]
    assert len(stack.of_the_bot(first["thread"]["name"])) == 2


def test_help_is_given_by_a_quick_command(stack: Stack, connected: dict[str, str]) -> None:
    said = said_next(stack, HELPDESK, lambda: do(stack, "commands", space=HELPDESK, command=5))

    assert said["text"] == help_text("en", 24)


def test_removed_and_added_again_the_bot_greets_once(stack: Stack, connected: dict[str, str]) -> None:
    do(stack, "members", space=SALES, bot="remove")
    said = said_next(stack, SALES, lambda: do(stack, "members", space=SALES, bot="add"))

    assert said["text"] == help_text("en", 24, "welcome")


def test_a_conversation_is_forgotten_by_a_click_or_where_there_is_none_by_words(
    stack: Stack, connected: dict[str, str]
) -> None:
    asked = stack.ask("How do I configure the VPN?")
    thread = asked["thread"]["name"]
    stack.final(asked)

    def forget(words: str) -> dict[str, Any]:
        command = {"space": HELPDESK, "command": 2, "text": words, "thread": thread}
        return said_next(stack, HELPDESK, lambda: do(stack, "commands", **command))

    asks = forget("")
    if connected["transport"] == "https":
        [section] = asks["cardsV2"][0]["card"]["sections"]
        action = section["widgets"][0]["buttonList"]["buttons"][0]["onClick"]["action"]
        parameters = {each["key"]: each["value"] for each in action["parameters"]}
        click = {"message": asks["name"], "function": action["function"], "parameters": parameters}
        do(stack, "clicks", **click)
    else:
        assert "cardsV2" not in asks
        forget("yes")

    until(lambda: thread not in everything(stack), "nothing is kept")
    follow_up = said_next(
        stack, HELPDESK, lambda: stack.ask("Can you explain in more detail?", thread=thread)
    )
    assert follow_up["text"].startswith("I cannot tell what you mean")


def everything(stack: Stack) -> str:
    """All that is kept of conversations and questions."""
    kept = (
        document.to_dict()
        for collection in ("chat_threads", "dead_letters")
        for document in stack.firestore.collection(collection).stream()
    )
    return json.dumps(list(kept), default=str)


def test_a_direct_message_of_the_other_person_is_answered_there(
    stack: Stack, connected: dict[str, str]
) -> None:
    body = {"space": BENS_DM, "text": "How do I configure the VPN?", "person": "users/1002"}

    assert stack.final(post(stack, "messages", body))["answered"]


def test_an_event_on_the_topic_that_is_none_is_a_dead_letter_of_ingest(
    stack: Stack, connected: dict[str, str]
) -> None:
    odd = json.dumps({"chat": {"newPayload": {"number": time.time_ns()}}}).encode()
    stack.run(stack.cloud.publish_event(odd))

    kept = stack.firestore.collection("dead_letters")
    until(lambda: any((each.to_dict() or {}).get("data") == odd for each in kept.stream()), "it is kept")
