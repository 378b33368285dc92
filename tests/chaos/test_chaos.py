"""Chaos: a run with faults keeps "one question, one end", and what is broken on a live stack is reported."""

import ast
import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import httpx
import pytest

from chaos.asked import Asked, Done
from chaos.checker import check
from chaos.load import Load
from chaos.outside import Outside, look
from chaos.script import (
    CHARACTERS,
    DEEDS,
    DELETE,
    FOLLOW_UPS,
    FORGET,
    RATE,
    TOO_LONG,
    TOPICS,
    written,
)
from chaos.storm import RESTART, schedule
from chaos.verdict import End, Kind, Verdict
from chaos.watch import Watch, place_of
from chaos.world import TURNS, document_of
from local.stand_ins.faults import fault_names
from shared.pipeline import pipeline
from tests import ROOT
from tests.support.chaos_asked import SPACE, VPN, conversation
from tests.support.chaos_mutations import MUTATIONS
from tests.support.chaos_run import chaos
from tests.support.stack import Stack

pytest_plugins = ["tests.support.stack_fixtures"]

#: Which functions there are; it decides nothing.
TABLE = "shared.pipeline"
REPLIES = f"/v1/{SPACE}/messages?messageReplyOption=REPLY_MESSAGE_OR_FAIL"


def test_chaos_imports_nothing_that_it_tests_but_the_table() -> None:
    imported = {
        name if name == TABLE else name.partition(".")[0]
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

    assert imported.isdisjoint({"shared", *pipeline().folders})


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
    names = {blow.name for blow in blows(1, len(fault_names()) + 3)}

    assert {f"{step.name}-killed" for step in pipeline().functions} | {RESTART} < names
    assert set(fault_names()) | {RESTART} == names


def test_what_is_left_out_does_not_strike_and_is_not_done() -> None:
    names = {blow.name for blow in islice(schedule(1, without={"chat-late", RESTART}), 100)}
    script = written(400, 150, seed=1, without={FORGET, TOO_LONG})

    assert names == {*fault_names()} - {"chat-late"}
    assert {deed for each in script for deed in each.deeds} == {"", *DEEDS} - {FORGET}
    assert max(len(question) for each in script for question in each.questions) < CHARACTERS


def test_what_is_left_out_must_exist() -> None:
    run = chaos("--without", "chat-never")

    assert run.returncode == 2
    assert "chat-never" in run.stderr


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_short_run_loses_and_doubles_nothing() -> None:
    run = chaos("--questions", "24", "--threads", "9", "--seed", "4", "--quotas")

    assert run.returncode == 0, run.stdout + run.stderr


@dataclass
class Asking:
    """A live stack on which one conversation has been asked to its end."""

    stack: Stack
    watch: Watch
    asked: list[Asked]
    done: Done

    async def kinds(self) -> set[Kind]:
        """What the checker reports now."""
        return {violation.kind for violation in (await self.verdict()).violations}

    async def verdict(self) -> Verdict:
        """What the checker says now."""
        return check(self.asked, await self.outside(), self.done)

    async def outside(self) -> Outside:
        """What is to be seen of this conversation."""
        places = {question.place for question in self.asked}
        messages = [message for message in self.watch.of_the_bot() if place_of(message) in places]
        outside = await asyncio.to_thread(look, self.stack.firestore, self.stack.places, messages, ())
        ours = {document_of(place) for place in places}
        # The stack holds what other tests have asked.
        turns = {name: held for name, held in outside.documents[TURNS].items() if name in ours}
        names = {question.name for question in self.asked}
        letters = Counter({name: count for name, count in outside.letters.items() if name in names})
        return replace(outside, documents={**outside.documents, TURNS: turns}, letters=letters)


@asynccontextmanager
async def asking(stack: Stack, *deeds: str) -> AsyncIterator[Asking]:
    """One question, asked and answered; or one for each thing that is done after it."""
    watch = Watch(stack.places.url)
    following = asyncio.create_task(watch.follow())
    questions = (VPN.first, *FOLLOW_UPS["en"])[: max(1, len(deeds))]
    script = replace(conversation(SPACE, VPN, *questions), deeds=deeds)
    load = Load(stack.places.url, watch, [script], seconds=1)
    try:
        await load.run(float("inf"), lambda: None)
        assert await watch.ended(load.asked[0].place, 1, 30)
        await until(lambda: stack.cloud.idle)
        yield Asking(stack, watch, load.asked, load.done)
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - it is told by nothing else
            await asyncio.sleep(0.05)


def document(stack: Stack, collection: str, name: str) -> Any:
    return stack.firestore.collection(collection).document(document_of(name))


@pytest.mark.slow
async def test_every_mutation_of_a_world_that_was_built_by_the_functions_is_named(stack: Stack) -> None:
    async with asking(stack) as one:
        healthy = await one.outside()
        assert check(one.asked, healthy).violations == []

    for name, (mutation, kind) in MUTATIONS.items():
        harmed = deepcopy(healthy)
        mutation(harmed, one.asked[0])
        assert kind in {violation.kind for violation in check(one.asked, harmed).violations}, name


@pytest.mark.slow
async def test_a_turn_that_vanishes_is_reported(stack: Stack) -> None:
    async with asking(stack) as one:
        assert await one.kinds() == set()

        document(stack, "chat_threads", one.asked[0].place).update({"turns": []})

        assert await one.kinds() == {Kind.TURN_MISSING}


@pytest.mark.slow
async def test_what_people_do_besides_asking_leaves_a_world_that_is_healthy(stack: Stack) -> None:
    async with asking(stack, RATE, DELETE) as one:
        assert await one.kinds() == set()
        assert one.done.clicked.total() == one.done.deleted.total() == 1
        ends = (await one.verdict()).ends
        # Who was still writing when the answer was deleted may have put it back.
        assert ends[End.ANSWER] + ends[End.DELETED] == 2 and ends[End.ANSWER]

    async with asking(stack, RATE, FORGET, RATE) as one:
        assert await one.kinds() == set()
        assert (await one.verdict()).ends == {End.FORGOTTEN: 2, End.NOTICE: 1}


@pytest.mark.slow
async def test_a_function_is_frozen_once_it_has_answered_and_goes_on_later(stack: Stack) -> None:
    stack.faults.switch_on("answer-frozen", seconds=3)
    try:
        async with asking(stack):
            assert stack.faults.hits["answer-frozen"] == 1
    finally:
        stack.faults.switch_off()
    began = time.monotonic()

    async with asking(stack) as next_one:
        assert time.monotonic() - began > 2
        assert await next_one.kinds() == set()


@pytest.mark.slow
async def test_a_second_message_of_the_bot_is_reported(stack: Stack) -> None:
    async with asking(stack) as one:
        assert await one.kinds() == set()
        place = one.asked[0].place

        body = {"text": "Me again.", "thread": {"name": place}}
        async with httpx.AsyncClient(base_url=stack.places.url, trust_env=False) as client:
            (await client.post(REPLIES, json=body)).raise_for_status()

        assert await one.watch.ended(place, 2, 10)
        assert await one.kinds() == {Kind.DOUBLED}


@pytest.mark.slow
async def test_a_case_that_vanishes_is_reported(stack: Stack) -> None:
    stack.faults.switch_on("gemini-blocked")
    async with asking(stack) as one:
        assert await one.kinds() == set()

        document(stack, "dead_letters", one.asked[0].name).delete()

        assert await one.kinds() == {Kind.CASE_MISSING}


@pytest.mark.slow
async def test_a_function_whose_clock_is_ahead_records_what_it_does_later(stack: Stack) -> None:
    stack.faults.switch_on("answer-skewed", seconds=30)
    await until(lambda: bool(stack.faults.hits.get("answer-skewed")))
    async with asking(stack) as one:
        held = document(stack, "chat_threads", one.asked[0].place).get().to_dict()

    assert 20 < (held["updated_at"] - datetime.now(UTC)).total_seconds() < 31
