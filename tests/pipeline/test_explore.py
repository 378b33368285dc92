"""One question, several actors: one stops at each of its calls while others run; then all is delivered again.

`make explore` tries every combination of two actors, and many of three. Here a sample of them is tried.
"""

import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import pytest

from answer_fn.services import open_services as open_answer
from answer_fn.services import open_tell_services as open_tell
from answer_fn.settings import Settings as AnswerSettings
from local.runner.skew import set_by
from shared.memory import cases, conversations, records
from shared.memory.forgotten import Forgotten, covers
from shared.messages.ending import APOLOGY, REMEMBERED, Ending
from shared.messages.envelope import Question
from shared.messages.names import document_id
from tests.conftest import SmallCloud
from tests.support.exploring import PAUSES, SKEW, STOPS, OwnClock, Stop, Stops, until_done
from tests.support.exploring_actors import (
    BELOW_SORRY,
    ENDS,
    NAMES,
    SAID,
    SHOWS,
    SORRY,
    TAKEN,
    Before,
    Stage,
    actors,
    prepare,
)
from tests.support.ingest_side import Ingest

pytestmark = pytest.mark.slow
ALL = os.environ.get("EXPLORE") == "all"
#: How many combinations of two and of three actors are tried for each first actor.
PAIRS, TRIPLES = (1_000_000, 60) if ALL else (5, 1)
#: By turns, the clock of the first actor is right, behind and ahead, in seconds.
CLOCKS = (0.0, -SKEW, SKEW)


@dataclass(frozen=True)
class World:
    """What is kept of a question, and what Chat shows."""

    shown: str
    progress: bool
    known: bool
    ending: Ending | None
    forgotten: bool
    turns: tuple[str, ...]
    pending: bool
    case: str

    def faults(self) -> list[str]:
        """What is wrong with it."""
        if self.forgotten:
            kept = self.known or self.turns or self.pending or self.case != "none"
            return [*(["something is kept"] if kept else []), *(["progress stands"] if self.progress else [])]
        ending = self.ending
        if ending is None:
            return ["it has not ended"]
        answered = (ending.plain,) if ending.kind in REMEMBERED else ()
        wrong = {
            "Chat shows something else": self.progress or self.shown != ending.text,
            "something else is remembered": self.turns[1:] != answered,
            "it still waits": self.pending,
            "its case is open": ending.kind != APOLOGY and self.case == "open",
            "its case is closed": ending.kind == APOLOGY and self.case == "closed",
        }
        return [what for what, is_so in wrong.items() if is_so]


@dataclass(frozen=True)
class Combination:
    """Who is stopped, where, and who runs meanwhile. `ahead`: the clock of the first, in seconds."""

    first: str
    others: tuple[str, ...]
    before: Before
    stop: Stop
    number: int
    ahead: float

    def __str__(self) -> str:
        meanwhile = ", then ".join(self.others)
        clock = f", its clock {self.ahead:+.0f} s" if self.ahead else ""
        return f"{self.first}, {self.stop} call {self.number + 1}{clock}, meanwhile {meanwhile}"


@pytest.fixture
def stage(small_cloud: SmallCloud, firestore: Any, outbox: Any, inbox: Any) -> Stage:
    settings = AnswerSettings(chat_endpoint=small_cloud.places.url)
    return Stage(
        small_cloud,
        firestore,
        outbox,
        open_answer(settings),
        open_tell(settings),
        Ingest(small_cloud),
        (inbox("questions"), inbox("findings")),
    )


@pytest.fixture
def stops(small_cloud: SmallCloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stops]:
    """Stops of one actor, whose clock may be wrong."""
    stops = Stops(small_cloud.faults, small_cloud.loop)
    monkeypatch.setattr(small_cloud.faults, "call", stops.call)
    set_right = set_by(OwnClock())
    yield stops
    set_right()


def before(*names: str) -> Before | None:
    """What has happened before these run; None if there is nothing that all of them can go on from."""
    first_event, below_sorry = "the event" in names, not set(BELOW_SORRY).isdisjoint(names)
    if first_event and below_sorry:
        return None
    return SAID if first_event else SORRY if below_sorry else TAKEN


def combinations(first: str, stage: Stage, stops: Stops) -> list[Combination]:
    """The combinations that are tried with an actor: of many, the same ones each time."""
    chosen = random.Random(f"20261203 {first}")

    @cache
    def calls(since: Before) -> int:
        asked = stage.question()
        prepare(stage, asked, since)
        return stops.count(actors(stage, asked, since)[first])

    def tried(stages: tuple[Stop, ...], most: int, many: Iterable[tuple[str, ...]]) -> list[Combination]:
        every = [
            (others, since, stop, call)
            for others in many
            if (since := before(first, *others)) and not {first, *others} <= set(SHOWS)
            for stop in stages
            for call in range(calls(since))
        ]
        some = chosen.sample(every, min(most, len(every)))
        return [Combination(first, *one, ahead=CLOCKS[turn % len(CLOCKS)]) for turn, one in enumerate(some)]

    twos, threes = product(NAMES), product(NAMES, NAMES)
    return [*tried(STOPS, PAIRS, twos), *tried(PAUSES, TRIPLES, threes)]


def explore(stage: Stage, stops: Stops, tried: Combination) -> str | None:
    """Try one combination; what is wrong afterwards, or None."""
    asked = stage.question()
    prepare(stage, asked, tried.before)
    if tried.before == SORRY:
        stage.numbers_sent(asked.question)  # it is those that have died
    on_stage = [actors(stage, asked, tried.before)[name] for name in (tried.first, *tried.others)]
    ended = stops.run(on_stage[0], on_stage[1:], tried.stop, tried.number, tried.ahead)
    done = [is_done or until_done(actor) for is_done, actor in zip(ended, on_stage, strict=True)]
    for number in stage.numbers_sent(asked.question) - ended_by(tried):
        done.append(until_done(actors(stage, asked, SAID)["a later answer" if number else "answer"]))
    wrong = world_of(stage, asked.question).faults() if all(done) else ["it is never acknowledged"]
    return f"{tried}: {', '.join(wrong)}" if wrong else None


def ended_by(tried: Combination) -> set[int]:
    """The numbers of the answers whose messages have come to their ends with a combination."""
    names = {tried.first, *tried.others}
    if names & {"the event", "the event again"}:
        names -= {"tell", "tell of a later one"}  # after an apology, an event sets out once more
    return {ENDS[name] for name in names if name in ENDS}


def world_of(stage: Stage, asked: Question) -> World:
    """What has become of a question."""

    def fields(collection: str, name: str) -> dict[str, Any]:
        return stage.firestore.collection(collection).document(document_id(name)).get().to_dict() or {}

    message, record = stage.shown(asked), fields(records.COLLECTION, asked.id)
    conversation, case = (
        fields(conversations.COLLECTION, asked.conversation),
        fields(cases.COLLECTION, asked.id),
    )
    notes = [each.get().to_dict() for each in Forgotten(stage.firestore).references(asked)]

    def mine(part: str) -> list[dict[str, Any]]:
        return [each for each in conversation.get(part, []) if each["question_id"] == asked.id]

    return World(
        shown=message.get("text", ""),
        progress=any(card["cardId"] == "progress" for card in message.get("cardsV2", [])),
        known=bool(record),
        ending=Ending.read(record.get("final")),
        forgotten=covers(notes, asked),
        turns=tuple(turn["text"] for turn in mine("turns")),
        pending=bool(mine("pending")),
        case="none" if not case else "closed" if case.get("answered_at") else "open",
    )


@pytest.mark.timeout(3600 if ALL else 120)
@pytest.mark.parametrize("first", NAMES)
def test_whatever_stops_an_actor_the_ending_that_stands_is_what_everything_says(
    stage: Stage, stops: Stops, first: str
) -> None:
    tried = combinations(first, stage, stops)
    found = [explore(stage, stops, each) for each in tried]

    assert "\n".join(each for each in found if each) == ""


def test_an_operator_whose_clock_is_ahead_has_a_claim_that_ends_before_the_next_replay(
    stage: Stage, stops: Stops
) -> None:
    killed = Combination("replay", ("tell",), SORRY, "killed after", 4, ahead=SKEW)

    assert explore(stage, stops, killed) is None
