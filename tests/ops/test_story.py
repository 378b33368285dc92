"""The story that the commands are for: dead letters at 3 am, and every asker has an answer at last."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from local.places import HOST, PROJECT
from shared.memory.cases import COLLECTION
from shared.memory.conversations import COLLECTION as CONVERSATIONS
from shared.messages.dead_letter import reference
from shared.messages.names import document_id
from tests.support.loopback import http
from tests.support.operating import Desk, Ran, finished, ran, started
from tests.support.stack import HELPDESK, SALES, Stack
from tests.support.waiting import until

pytest_plugins = ["tests.support.stack_fixtures"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

#: Of those that the model refuses for good a step of ours parks the message; when the model is down, Pub/Sub
#: forwards it, after as many attempts as it takes.
FORWARDED, PARKED, CANARY = 6, 18, 3
TOPICS = ("How do I configure the VPN?", "How do I reset my password?", "What is MFA?", "How do I print?")


def environment(stack: Stack) -> dict[str, str]:
    """What an operator's shell has set."""
    return {
        "PUBSUB_EMULATOR_HOST": f"{HOST}:{stack.places.pubsub}",
        "FIRESTORE_EMULATOR_HOST": f"{HOST}:{stack.places.firestore}",
        "GOOGLE_CLOUD_PROJECT": PROJECT,
        "OPERATOR": "maria",
    }


def ops(stack: Stack, *arguments: str) -> Ran:
    """An operator's command. It runs in this process: the one that is killed has a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(stack).items():
            patch.setenv(name, value)
        return ran(*arguments)


def cases(stack: Stack) -> list[dict[str, Any]]:
    """What has become of all cases."""
    ends = stack.firestore.collection(COLLECTION).select(["told", "replays", "returned", "answered_at"])
    return [each.to_dict() or {} for each in ends.stream()]


def ask(stack: Stack, count: int) -> list[dict[str, Any]]:
    """As many questions, each in a thread of its own."""

    def one(number: int) -> dict[str, Any]:
        return stack.ask(TOPICS[number % len(TOPICS)], space=(HELPDESK, SALES)[number % 2])

    with ThreadPoolExecutor(4) as askers:
        return list(askers.map(one, range(count)))


def of_the_bot(stack: Stack) -> dict[str, list[dict[str, Any]]]:
    """What the bot says, by thread."""
    state = http.get(f"{stack.places.url}/page/state").json()
    said: dict[str, list[dict[str, Any]]] = {}
    for message in state["messages"]:
        if message["sender"]["type"] == "BOT":
            said.setdefault(message["thread"]["name"], []).append(message)
    return said


def test_every_apology_becomes_one_answer(stack: Stack) -> None:
    nothing_is_left_of_earlier_tests(stack)
    asked = generation_breaks(stack)
    total = len(asked)

    groups = ops(stack, "dead", "groups", "--json").json
    counts: Counter[tuple[str, str]] = Counter()
    for each in groups:  # an error that could not be recorded makes a group of its own
        counts[each["step"], each["reason"]] += each["count"]
    assert counts == {("answer", "gemini_blocked"): PARKED, ("answer", "gemini_unavailable"): FORWARDED}, (
        groups
    )
    assert groups[0]["count"] > PARKED / 2

    stack.faults.switch_off()
    canary = ops(
        stack, "dead", "replay", "--group", groups[0]["group"], "--limit", str(CANARY), "--yes", "--json",
        "--reason", "canary after the quota was raised",
    )  # fmt: skip
    assert [each["end"] for each in canary.json["messages"]] == ["answered"] * CANARY, canary.err

    the_rest_killed_half_way(stack, total)
    again = ops(
        stack, "dead", "replay", "--all", "--yes", "--rate", "20", "--wait", "120", "--reason", "the rest"
    )
    assert again.code == 0, again.said
    until(lambda: all(each["answered_at"] for each in cases(stack)), "every case is answered")
    until(lambda: stack.cloud.idle, "nothing is under way")

    everybody_has_one_answer(stack, asked)
    the_queue_is_empty(stack, total)
    the_audit_is_complete(stack, asked)


def nothing_is_left_of_earlier_tests(stack: Stack) -> None:
    """No dead letter waits in the backup, there is no case, and the audit is empty."""
    assert ops(stack, "dead", "reconcile").code == 0
    Desk(stack.firestore).clear()


def generation_breaks(stack: Stack) -> list[dict[str, Any]]:
    """Both kinds of dead letters; every asker has an apology."""
    stack.faults.switch_on("gemini-down")
    asked = ask(stack, FORWARDED)
    until(lambda: len(cases(stack)) == FORWARDED, "Pub/Sub has given up on all")
    stack.faults.switch_off()
    stack.faults.switch_on("gemini-blocked")
    asked += ask(stack, PARKED)
    until(lambda: sum(each["told"] for each in cases(stack)) == len(asked), "every asker is told")
    until(
        lambda: stack.cloud.idle,
        "nothing comes again after the fix",
    )
    said = of_the_bot(stack)
    for question in asked:
        [message] = said[question["thread"]["name"]]
        assert "TW-" in message["text"]
    return asked


def the_rest_killed_half_way(stack: Stack, total: int) -> None:
    """The operator's machine loses power in the middle of the replay."""
    replaying = started(
        "dead",
        "replay",
        "--all",
        "--yes",
        "--rate",
        "5",  # slow enough to be killed before its end
        "--reason",
        "the rest",
        environment=environment(stack),
    )
    until(lambda: sum(each["replays"] for each in cases(stack)) >= total // 2, "half is replayed")
    replaying.kill()
    finished(replaying)
    assert sum(each["replays"] for each in cases(stack)) < total


def everybody_has_one_answer(stack: Stack, asked: list[dict[str, Any]]) -> None:
    """In place of the apology; and remembered once."""
    said = of_the_bot(stack)
    for question in asked:
        [message] = said[question["thread"]["name"]]
        assert "TW-" not in message["text"]
        assert "[1]" in message["text"]
        document = stack.firestore.collection(CONVERSATIONS).document(document_id(question["thread"]["name"]))
        turns = (document.get().to_dict() or {})["turns"]
        assert [turn["role"] for turn in turns] == ["user", "assistant"]


def the_queue_is_empty(stack: Stack, total: int) -> None:
    """No case is left to do, also when what the backup holds is read."""
    assert ops(stack, "dead", "reconcile").code == 0
    assert ops(stack, "dead", "list", "--json").json == []
    assert len(ops(stack, "dead", "list", "--state", "answered", "--limit", "1000", "--json").json) == total
    assert {each["returned"] for each in cases(stack)} == {0}


def the_audit_is_complete(stack: Stack, asked: list[dict[str, Any]]) -> None:
    """Who, why, and for each question when it was sent; the operation that was cut off says so."""
    canary, cut, rest = [each for each in Desk(stack.firestore).audited() if each["action"] == "replay"]
    outcomes: dict[str, Counter[str]] = {}
    for operation in (canary, cut, rest):
        assert operation["by"] == "maria"
        for entry in operation["messages"]:
            outcomes.setdefault(entry["question_id"], Counter())[entry["outcome"]] += 1
    assert canary["note"] == "canary after the quota was raised"
    assert (cut["finished_at"], rest["finished_at"] is None) == (None, False)
    assert set(outcomes) == {question["name"] for question in asked}
    for question_id, counts in outcomes.items():
        assert counts["replayed"] + counts["being sent"] in {1, 2}, reference(question_id)
        assert counts["replayed"] <= 1
