"""One question, two actors: one stops at each of its calls while the other runs; then all is delivered again.

Every combination is tried by `make explore`, a sample of them here.
"""

import os
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, product
from typing import Any

import pytest

from answer_fn.answer import answer
from answer_fn.services import open_services as open_answer
from answer_fn.services import open_tell_services as open_tell
from answer_fn.settings import Settings as AnswerSettings
from answer_fn.tell import Teller
from shared.chat.cards import progress
from shared.chat.display import Display
from shared.chat.message import Chat, message_id
from shared.memory import cases, conversations, records
from shared.memory.failures import Failures
from shared.memory.firestore import document_id
from shared.memory.forgotten import Forgotten, covers
from shared.memory.records import Records
from shared.messages.ending import APOLOGY, REMEMBERED, Ending
from shared.messages.envelope import Envelope, Question
from shared.messages.step import Step
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Transient
from shared.runtime.outbox import Outbox
from tests.conftest import SmallCloud
from tests.support.exploring import STOPS, Actor, Stop, Stops, until_done
from tests.support.factories import SPACE, context, envelope, push, question
from tests.support.golden_events import golden, with_message
from tests.support.ingest_side import Ingest, anew
from tests.support.loopback import http

pytestmark = pytest.mark.slow
#: Of some 1,500 stops, so many are tried unless all are asked for.
SAMPLE = 150
FOUND = (context(),)


@dataclass(frozen=True)
class Stage:
    """Real services on the stand-ins."""

    cloud: SmallCloud
    firestore: Any
    outbox: Outbox
    chat: Chat
    ingest: Ingest

    @property
    def display(self) -> Display:
        return Display(self.chat, Records(self.firestore, 24))


@dataclass(frozen=True)
class Services:
    """What a step without work of its own asks of the world."""

    outbox: Outbox
    failures: Failures
    display: Display


@dataclass(frozen=True)
class World:
    """What is kept of a question, and what Chat shows."""

    shown: str
    progress: bool
    ending: Ending | None
    forgotten: bool
    turns: tuple[str, ...]
    pending: bool
    case: str

    def faults(self) -> list[str]:
        """What is wrong with it."""
        if self.forgotten:
            kept = self.ending or self.turns or self.pending or self.case != "none"
            return [*(["something is kept"] if kept else []), *(["progress stands"] if self.progress else [])]
        ending = self.ending
        if ending is None:
            return [*(["turns without an ending"] if self.turns else [])]
        answered = (ending.plain,) if ending.kind in REMEMBERED else ()
        wrong = {
            "Chat shows something else": self.progress or self.shown != ending.text,
            "something else is remembered": self.turns[1:] != answered,
            "it still waits": self.pending,
            "its case is open": ending.kind != APOLOGY and self.case == "open",
            "its case is closed": ending.kind == APOLOGY and self.case == "closed",
        }
        return [what for what, is_so in wrong.items() if is_so]


@pytest.fixture(scope="module")
def stage(small_cloud: SmallCloud, firestore: Any, outbox: Outbox, chat_client: Any) -> Stage:
    services = open_answer(AnswerSettings(chat_endpoint=small_cloud.places.url))
    return Stage(small_cloud, firestore, outbox, services.chat, Ingest(small_cloud))


def asked_in(stage: Stage) -> tuple[Question, Any]:
    """A new question whose progress card stands in Chat, and its event."""

    async def say() -> Any:
        return stage.cloud.cloud.chat.post_as_person(SPACE, "How do I configure the VPN?", mention=False)

    message = stage.cloud.run(say())
    thread, now = message["thread"]["name"], datetime.now(UTC)
    asked = question(
        id=message["name"], thread=thread, conversation=thread, asked_at=now - timedelta(seconds=30)
    )
    stage.chat.post_progress(asked, progress("en", "searching"), Deadline(5))
    return asked, thread


def actors(stage: Stage, asked: Question, thread: str) -> dict[str, Actor]:
    """Everybody who may write of a question, by name; each says whether its message is acknowledged."""
    answering = open_answer(AnswerSettings(chat_endpoint=stage.cloud.places.url))
    telling = open_tell(AnswerSettings(chat_endpoint=stage.cloud.places.url))
    services = Services(stage.outbox, Failures(stage.firestore), stage.display)

    def pushed(step: Any, sent: Envelope, **headers: str) -> Actor:
        given, body = push(sent)
        return lambda: step.receive({**given, **headers}, body)[1] == 204

    def of(number: int) -> Envelope:
        words = f"How do I configure the VPN {number}?"
        return envelope(question=asked, search_query=words, contexts=FOUND, answer_number=number)

    def step(work: Any, **options: Any) -> Any:
        given: dict[str, Any] = {
            "seconds": 60,
            "services": lambda: services,
            "dead_letter_topic": "dead-letters",
        }
        return Step(
            name="retrieve", stage="searching", work=work, publishes_to="findings", **given, **options
        )

    def show(sent: Envelope, _: Any, deadline: Deadline, _times: Any) -> None:
        services.display.progress(
            asked, progress("en", "writing"), deadline, answer_number=sent.answer_number
        )

    def passes(sent: Envelope, _services: Any, _deadline: Any) -> Envelope:
        return sent

    attempts = count()

    def fails_once(sent: Envelope, _services: Any, _deadline: Any) -> Envelope:
        if not next(attempts):
            raise Transient("rag_unavailable")
        return sent

    answer_step = Step("answer", "writing", 120, lambda: answering, answer, "dead-letters")
    dead = {"Dead-Letter-Step": "answer", "Dead-Letter-Reason": "x", "X-Goog-Pubsub-Message-Id": "1"}
    other = {**dead, "X-Goog-Pubsub-Message-Id": "2"}
    event = with_message(anew(golden("classic-slash-forget")), argumentText=" yes", thread={"name": thread})
    event = {**event, "thread": {"name": thread}}
    event["space"] = event["message"]["space"] = {**event["message"]["space"], "name": SPACE}
    return {
        "answer": pushed(answer_step, of(0)),
        "a later answer": pushed(answer_step, of(1)),
        "tell": pushed(Teller(lambda: telling), of(0), **dead),
        "tell of a later one": pushed(Teller(lambda: telling), of(1), **other),
        "progress": pushed(step(passes, afterwards=show), of(0)),
        "trying again": pushed(step(fails_once, afterwards=show), of(0)),
        "forget": lambda: stage.ingest.over_pubsub(event)[1] == 200,
    }


def world_of(stage: Stage, asked: Question) -> World:
    """What has become of a question."""

    def fields(collection: str, name: str) -> dict[str, Any]:
        return stage.firestore.collection(collection).document(document_id(name)).get().to_dict() or {}

    message = http.get(f"{stage.cloud.places.url}/v1/{SPACE}/messages/{message_id(asked.id)}").json()
    conversation = fields(conversations.COLLECTION, asked.conversation)
    case = fields(cases.COLLECTION, asked.id)
    notes = [each.get().to_dict() for each in Forgotten(stage.firestore).references(asked)]

    def mine(part: str) -> list[dict[str, Any]]:
        return [each for each in conversation.get(part, []) if each["question_id"] == asked.id]

    return World(
        shown=message.get("text", ""),
        progress=any(card["cardId"] == "progress" for card in message.get("cardsV2", [])),
        ending=Ending.read(fields(records.COLLECTION, asked.id).get("final")),
        forgotten=covers(notes, asked),
        turns=tuple(turn["text"] for turn in mine("turns")),
        pending=bool(mine("pending")),
        case="none" if not case else "closed" if case.get("answered_at") else "open",
    )


NAMES = ("answer", "a later answer", "tell", "tell of a later one", "progress", "trying again", "forget")
PAIRS = [pair for pair in product(NAMES, NAMES) if set(pair) - {"progress", "trying again"}]
ENDS = {"answer", "a later answer", "tell", "tell of a later one"}
MOST_CALLS = 12


def chosen() -> list[tuple[str, str, Stop, int]]:
    """The combinations that are tried: of many, the same ones each time."""
    every = [(*pair, stop, number) for pair in PAIRS for stop in STOPS for number in range(MOST_CALLS)]
    if os.environ.get("EXPLORE") == "all":
        return every
    return random.Random(20261203).sample([one for one in every if one[3] < 7], SAMPLE)


def explore(stage: Stage, stops: Stops, first: str, second: str, stop: Stop, number: int) -> str | None:
    """Try one combination; what is wrong afterwards, or None."""
    asked, thread = asked_in(stage)
    on_stage = actors(stage, asked, thread)
    others = on_stage if first != second else actors(stage, asked, thread)
    done, other_done = stops.run(on_stage[first], others[second], stop, number)
    if done is None:
        return None  # it makes fewer calls
    for is_done, actor in ((done, on_stage[first]), (other_done, others[second])):
        if not is_done:
            until_done(actor)
    if not {first, second} & ENDS:
        until_done(on_stage["answer"])  # what the question goes on to
    wrong = world_of(stage, asked).faults()
    return f"{first}, {stop} call {number + 1}, meanwhile {second}: {', '.join(wrong)}" if wrong else None


@pytest.mark.timeout(1800)
def test_whatever_stops_an_actor_the_ending_that_stands_is_what_everything_says(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops = Stops(stage.cloud.faults, stage.cloud.loop)
    monkeypatch.setattr(stage.cloud.faults, "call", stops.call)

    found = [explore(stage, stops, *combination) for combination in chosen()]

    assert "\n".join(each for each in found if each) == ""
