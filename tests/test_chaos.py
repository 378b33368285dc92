"""Chaos: the checker finds every way to break "one question, one end", and a run with faults passes it."""

import ast
import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from chaos.checker import check, check_replayed
from chaos.load import Asked, Load
from chaos.outside import UNREADABLE, Outside, look
from chaos.script import DIRECT, SPACES, TOPICS, Conversation, Topic, written
from chaos.storm import RESTART, schedule
from chaos.verdict import End, Kind, end_of
from chaos.watch import Watch, place_of
from local.faults import NAMES
from local.pipeline import FUNCTIONS, STEPS
from tests.stack import Stack, running_stack

ROOT = Path(__file__).resolve().parent.parent
SPACE, ELSEWHERE, DM = SPACES[0], SPACES[1], next(iter(DIRECT))
VPN, ROAMING = TOPICS[SPACE][0], TOPICS["direct"][0]
REPLIES = f"/v1/{SPACE}/messages?messageReplyOption=REPLY_MESSAGE_OR_FAIL"
Json = dict[str, Any]
Break = Callable[[Outside], object]

#: The card below an answer.
SOURCES = {"card": {"sections": [{"header": "Sources", "widgets": [{}]}]}}


def conversation(space: str, topic: Topic, *questions: str) -> Conversation:
    return Conversation(space, "users/1001", topic, questions, hasty=False)


def asked(name: str, place: str, topic: Topic, text: str) -> Asked:
    space = "/".join(place.split("/")[:2])
    at = f"2026-11-30T10:00:0{name[-1]}"
    return Asked(f"{space}/messages/{name}", text, place, at, conversation(space, topic, text), 0.0)


THREAD, OTHER = f"{SPACE}/threads/t1", f"{ELSEWHERE}/threads/t2"
ANSWERED = asked("q1", THREAD, VPN, VPN.first)
FOLLOW_UP = asked("q2", THREAD, VPN, "Can you explain in more detail?")
UNKNOWN = asked("q3", OTHER, TOPICS[ELSEWHERE][0], TOPICS[ELSEWHERE][0].first)
DIRECTLY = asked("q4", DM, ROAMING, ROAMING.first)
FAILED = asked("q5", OTHER, TOPICS[ELSEWHERE][0], "How long does it take?")
ALL = [ANSWERED, FOLLOW_UP, UNKNOWN, DIRECTLY, FAILED]
APOLOGY = "Sorry, that did not work. Reference: TW-0A1B2C3D"


def said(question: Asked, text: str, *, thread: str | None = None, cards: bool = True) -> Json:
    space = "/".join(question.place.split("/")[:2])
    message = {
        "name": question.name + "-bot",
        "space": {"name": space},
        "thread": {"name": thread or question.place},
        "text": text,
        "createTime": question.created + "1",
    }
    return {**message, "cardsV2": [SOURCES]} if cards else message


def turns(question: Asked, answer: str) -> list[Json]:
    user = {"role": "user", "text": question.text, "question_id": question.name}
    return [
        user,
        {**user, "role": "assistant", "text": answer, "search_query": question.conversation.topic.key},
    ]


def final(text: str) -> Json:
    return {"final": {"text": text}}


@pytest.fixture
def healthy() -> Outside:
    """Three answers (one in a direct message), a fallback and an apology."""
    return Outside(
        messages=[
            said(ANSWERED, "Like this. [1]"),
            said(FOLLOW_UP, "And so on. [1]"),
            said(UNKNOWN, "I do not know.", cards=False),
            said(DIRECTLY, "Switch it on. [1]", thread=f"{DM}/threads/of-the-bot"),
            said(FAILED, APOLOGY, cards=False),
        ],
        conversations={
            THREAD.replace("/", "_"): {
                "turns": [*turns(ANSWERED, "Like this. [1]"), *turns(FOLLOW_UP, "And so on. [1]")]
            },
            DM.replace("/", "_"): {"turns": turns(DIRECTLY, "Switch it on. [1]")},
        },
        questions={
            ANSWERED.name: final("Like this. [1]"),
            FOLLOW_UP.name: final("And so on. [1]"),
            FAILED.name: final(APOLOGY),
        },
        cases={FAILED.name: {"question_id": FAILED.name, "reference": "TW-0A1B2C3D"}},
        letters=Counter([FAILED.name]),
    )


def test_one_end_for_each_question_is_no_violation(healthy: Outside) -> None:
    verdict = check(ALL, healthy)

    assert verdict.violations == []
    assert verdict.ends == {End.ANSWER: 3, End.FALLBACK: 1, End.APOLOGY: 1}


def test_a_question_back_is_an_end_that_is_remembered(healthy: Outside) -> None:
    back = "Do you mean Windows or a Mac?"
    first = {**said(ANSWERED, back, cards=False), "name": healthy.messages[0]["name"]}
    asked = replace(
        healthy,
        messages=[first, *healthy.messages[1:]],
        questions={**healthy.questions, ANSWERED.name: final(back)},
    )
    without = deepcopy(asked)
    thread_turns(without)[:2] = []

    assert check(ALL, asked).violations == []
    assert check(ALL, asked).ends[End.CLARIFICATION] == 1
    assert [each.kind for each in check(ALL, without).violations] == [Kind.TURN_MISSING]


def thread_turns(outside: Outside, place: str = THREAD) -> list[Json]:
    found: list[Json] = outside.conversations.setdefault(place.replace("/", "_"), {"turns": []})["turns"]
    return found


def say_it_again(outside: Outside) -> None:
    outside.messages.append({**said(ANSWERED, "Like this. [1]"), "name": "another"})


def say_it_in_a_new_thread(outside: Outside) -> None:
    outside.messages[0] = said(ANSWERED, "Like this. [1]", thread=f"{SPACE}/threads/new")


def say_it_where_another_was_asked(outside: Outside) -> None:
    outside.messages[0] = {**outside.messages[0], "space": {"name": ELSEWHERE}, "thread": {"name": OTHER}}


def leave_the_card(outside: Outside) -> None:
    outside.messages[0].pop("text")


def search_for_another_s_topic(outside: Outside) -> None:
    thread_turns(outside)[1]["search_query"] = f"What about {ROAMING.key}?"


def answer_another_question(outside: Outside) -> None:
    thread_turns(outside)[0]["text"] = "What about roaming?"


def save_the_turn_elsewhere(outside: Outside) -> None:
    thread_turns(outside, OTHER).extend(turns(ANSWERED, "Like this. [1]"))


BREAKS: list[tuple[Break, Asked | None, Kind]] = [
    (lambda outside: outside.messages.pop(0), ANSWERED, Kind.LOST),
    (lambda outside: outside.messages.pop(3), DIRECTLY, Kind.LOST),
    (leave_the_card, ANSWERED, Kind.LOST),
    (say_it_again, None, Kind.DOUBLED),
    (say_it_in_a_new_thread, ANSWERED, Kind.WRONG_THREAD),
    (say_it_where_another_was_asked, ANSWERED, Kind.WRONG_THREAD),
    (lambda outside: thread_turns(outside).clear(), ANSWERED, Kind.TURN_MISSING),
    (lambda outside: thread_turns(outside).pop(0), ANSWERED, Kind.TURN_MISSING),
    (lambda outside: thread_turns(outside).extend(turns(ANSWERED, "x")), ANSWERED, Kind.TURN_DOUBLED),
    (lambda outside: thread_turns(outside, OTHER).extend(turns(FAILED, "x")), FAILED, Kind.TURN_UNEARNED),
    (lambda outside: thread_turns(outside, OTHER).extend(turns(UNKNOWN, "x")), UNKNOWN, Kind.TURN_UNEARNED),
    (save_the_turn_elsewhere, ANSWERED, Kind.CROSSED_OVER),
    (search_for_another_s_topic, ANSWERED, Kind.CROSSED_OVER),
    (answer_another_question, ANSWERED, Kind.CROSSED_OVER),
    (lambda outside: thread_turns(outside).reverse(), None, Kind.TURN_ORDER),
    (lambda outside: outside.cases.clear(), FAILED, Kind.CASE_MISSING),
    (lambda outside: outside.cases[FAILED.name].update(reference="TW-FFFFFFFF"), FAILED, Kind.CASE_MISSING),
    (lambda outside: outside.letters.update([ANSWERED.name]), ANSWERED, Kind.CASE_MISSING),
    (lambda outside: outside.letters.update([UNREADABLE]), None, Kind.MANGLED),
]


@pytest.mark.parametrize(("harm", "question", "kind"), BREAKS)
def test_every_way_to_break_the_rule_is_reported_with_its_kind(
    healthy: Outside, harm: Break, question: Asked | None, kind: Kind
) -> None:
    harm(healthy)

    found = check(ALL, healthy).violations

    assert kind in [
        violation.kind for violation in found if question is None or violation.question == question.name
    ]


def test_a_follow_up_may_be_searched_for_with_what_an_earlier_answer_in_its_place_is_about(
    healthy: Outside,
) -> None:
    thread_turns(healthy)[3]["search_query"] = f"In more detail? ({ROAMING.key})"
    assert {each.kind for each in check(ALL, healthy).violations} == {Kind.CROSSED_OVER}

    healthy.messages[0]["text"] = f"Like this, or with {ROAMING.key}. [1]"

    assert Kind.CROSSED_OVER not in {each.kind for each in check(ALL, healthy).violations}


def test_of_two_questions_with_the_same_answer_the_one_without_a_message_is_lost(healthy: Outside) -> None:
    healthy.questions[FOLLOW_UP.name] = final("Like this. [1]")
    healthy.messages[1]["text"] = "Like this. [1]"
    healthy.messages.pop(0)

    lost = [violation.question for violation in check(ALL, healthy).violations if violation.kind is Kind.LOST]

    assert lost == [ANSWERED.name]


def test_a_question_that_chat_could_not_hand_over_needs_no_end(healthy: Outside) -> None:
    healthy.messages.pop(2)
    given_up = replace(healthy, not_taken=frozenset([UNKNOWN.name]))

    assert check(ALL, given_up).violations == []


def test_messages_that_never_come_to_rest_are_reported(healthy: Outside) -> None:
    [violation] = check(ALL, replace(healthy, settled=False)).violations

    assert violation.kind is Kind.UNSETTLED


def test_an_apology_that_stays_after_the_replay_is_reported(healthy: Outside) -> None:
    before = check(ALL, healthy)

    kinds = [(each.kind, each.question) for each in check_replayed(ALL, healthy, before).violations]

    assert kinds == [(Kind.NOT_ANSWERED, FAILED.name)]


def test_an_answer_that_comes_as_a_new_message_after_the_replay_is_reported(healthy: Outside) -> None:
    before = check(ALL, healthy)
    after = deepcopy(healthy)
    after.messages[4] = {**said(FAILED, "I do not know.", cards=False), "name": "another"}

    kinds = [(each.kind, each.question) for each in check_replayed(ALL, after, before).violations]

    assert kinds == [(Kind.NOT_IN_PLACE, FAILED.name)]


def test_chaos_imports_nothing_that_it_tests() -> None:
    imported = {
        name.partition(".")[0]
        for path in (ROOT / "chaos").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }

    assert imported.isdisjoint({"shared", *(f"{step.name}_fn" for step in STEPS)})


def test_the_same_seed_asks_the_same_and_breaks_the_same() -> None:
    assert written(200, 50, seed=7) == written(200, 50, seed=7) != written(200, 50, seed=8)
    assert blows(7, 100) == blows(7, 100) != blows(8, 100)


def blows(seed: int, count: int) -> list[Any]:
    return list(islice(schedule(seed), count))


@pytest.mark.parametrize(("questions", "threads"), [(1, 1), (10, 3), (999, 120), (5, 400)])
def test_as_many_questions_are_written_as_were_asked_for(questions: int, threads: int) -> None:
    script = written(questions, threads, seed=1)

    assert sum(len(each.questions) for each in script) == questions
    assert sum(not each.direct for each in script) <= threads


def test_a_topic_s_key_is_in_its_first_question_and_in_no_other_s() -> None:
    topics = [topic for of_space in TOPICS.values() for topic in of_space]

    assert [[key.key for key in topics if key.key in topic.first] for topic in topics] == [
        [topic.key] for topic in topics
    ]


def test_every_round_of_the_storm_kills_each_function_and_troubles_each_service() -> None:
    names = {blow.name for blow in blows(1, 35)}

    assert {f"{step.name}-killed" for step in FUNCTIONS} | {RESTART} < names
    assert set(NAMES) | {RESTART} == names


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_short_run_loses_and_doubles_nothing() -> None:
    options = ["--questions", "40", "--threads", "15", "--seed", "4", "--quotas"]
    command = [sys.executable, "-m", "chaos", *options]

    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr


@dataclass
class Asking:
    """A live stack on which one conversation has been asked to its end."""

    stack: Stack
    watch: Watch
    asked: list[Asked]

    async def kinds(self) -> set[Kind]:
        """What the checker reports now."""
        places = {question.place for question in self.asked}
        messages = [message for message in self.watch.of_the_bot() if place_of(message) in places]
        outside = await asyncio.to_thread(look, self.stack.firestore, self.stack.places, messages, ())
        ours = {place.replace("/", "_") for place in places}
        theirs = {name: held for name, held in outside.conversations.items() if name in ours}
        found = check(self.asked, replace(outside, conversations=theirs)).violations
        return {violation.kind for violation in found}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("logs")) as running:
        yield running


@asynccontextmanager
async def asking(stack: Stack) -> AsyncIterator[Asking]:
    """One question, asked and answered."""
    watch = Watch(stack.places.url)
    following = asyncio.create_task(watch.follow())
    load = Load(stack.places.url, watch, [conversation(SPACE, VPN, VPN.first)])
    try:
        await load.run(float("inf"), lambda: None)
        assert await watch.ended(load.asked[0].place, 1, 30)
        await until(lambda: stack.cloud.idle)
        yield Asking(stack, watch, load.asked)
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - it is told by nothing else
            await asyncio.sleep(0.05)


def document(stack: Stack, collection: str, name: str) -> Any:
    return stack.firestore.collection(collection).document(name.replace("/", "_"))


@pytest.mark.slow
async def test_a_turn_that_vanishes_is_reported(stack: Stack) -> None:
    async with asking(stack) as one:
        assert await one.kinds() == set()

        document(stack, "chat_threads", one.asked[0].place).update({"turns": []})

        assert await one.kinds() == {Kind.TURN_MISSING}


@pytest.mark.slow
async def test_a_second_message_of_the_bot_is_reported(stack: Stack) -> None:
    async with asking(stack) as one:
        assert await one.kinds() == set()
        place = one.asked[0].place

        body = {"text": "Me again.", "thread": {"name": place}}
        async with (
            httpx.AsyncClient(base_url=stack.places.url, trust_env=False) as client,
            asyncio.timeout(10),
        ):
            while (await client.post(REPLIES, json=body)).status_code == 429:  # noqa: ASYNC110
                await asyncio.sleep(0.2)

        assert await one.watch.ended(place, 2, 10)
        assert await one.kinds() == {Kind.DOUBLED}


@pytest.mark.slow
async def test_a_case_that_vanishes_is_reported(stack: Stack) -> None:
    stack.faults.switch_on("gemini-blocked")
    try:
        async with asking(stack) as one:
            assert await one.kinds() == set()

            document(stack, "dead_letters", one.asked[0].name).delete()

            assert await one.kinds() == {Kind.CASE_MISSING}
    finally:
        stack.faults.switch_off()


def test_what_was_searched_for_is_no_source() -> None:
    searched = {"card": {"sections": [{"widgets": [{"decoratedText": {"text": "I searched for: VPN"}}]}]}}

    assert end_of({"text": "Nothing found.", "cardsV2": [searched]}) is End.FALLBACK
    assert end_of({"text": "Like this.", "cardsV2": [SOURCES]}) is End.ANSWER
