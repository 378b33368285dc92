"""Everybody who may write of one question: real services, on the stand-ins."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from threading import Event
from typing import Any

from google.api_core.exceptions import GoogleAPICallError

from answer_fn.answer import Services as AnswerServices
from answer_fn.answer import answer
from answer_fn.tell import Services as TellServices
from answer_fn.tell import Teller
from ops.audit import new_operation
from ops.replay import Order, Outcome, replay
from ops.world import World as Operators
from retrieve_fn.retrieve import show_found
from shared.chat.display import Display
from shared.chat.events import question_of
from shared.chat.message import Chat, message_id
from shared.memory.failures import Failures
from shared.memory.records import Records
from shared.messages.envelope import Envelope, Question
from shared.messages.names import document_id
from shared.messages.step import SLOW_AFTER, Step
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError, Transient
from shared.runtime.outbox import Outbox
from tests.conftest import Inbox, SmallCloud
from tests.support.clicking import click
from tests.support.exploring import Actor
from tests.support.factories import SPACE, context, envelope, push
from tests.support.golden_events import as_bytes, golden, with_message
from tests.support.ingest_side import AUDIENCE, Ingest, anew
from tests.support.loopback import http

#: What has happened before: a person has asked; the bot has taken the question; it has said sorry.
Before = str
SAID, TAKEN, SORRY = "said", "taken", "sorry"
#: The number of the answer that an actor ends with.
ENDS = {"answer": 0, "a later answer": 1, "tell": 0, "tell of a later one": 1}
#: Actors that only show how it goes, and those that click or replay below an apology.
SHOWS = ("progress", "still working", "trying again")
BELOW_SORRY = ("ask again", "replay")
NAMES = (*ENDS, *SHOWS, *BELOW_SORRY, "forget", "the event", "the event again")


@dataclass(frozen=True)
class Services:
    """What a step without work of its own asks of the world."""

    outbox: Outbox
    failures: Failures
    display: Display


class Telling(Display):
    """Tells when it has said something."""

    def __init__(self, chat: Chat, records: Records) -> None:
        super().__init__(chat, records)
        self.over = Event()

    def say(self, *arguments: Any) -> None:
        """Show the stage that is under way."""
        try:
            super().say(*arguments)
        finally:
            self.over.set()


@dataclass(frozen=True)
class Stage:
    """What the actors stand on. `sent` are subscriptions to the topics that they publish to."""

    cloud: SmallCloud
    firestore: Any
    outbox: Outbox
    answering: AnswerServices
    telling: TellServices
    ingest: Ingest
    sent: tuple[Inbox, ...]

    def services(self, display: type[Display] = Display) -> Services:
        """What a step needs."""
        shown = display(self.answering.chat, Records(self.firestore, 24))
        return Services(self.outbox, Failures(self.firestore), shown)

    def question(self) -> "Asked":
        """A new question, in a thread of its own."""

        async def say() -> Any:
            return self.cloud.cloud.chat.post_as_person(SPACE, "How do I configure the VPN?", mention=False)

        message = self.cloud.run(say())
        asked = _in_thread("classic-message-in-space", message["thread"], "How do I configure the VPN?")
        asked["user"]["name"] = asked["message"]["sender"]["name"] = "users/1001"
        asked["message"]["name"] = message["name"]
        found = question_of(as_bytes(asked))
        assert found is not None
        return Asked(found, asked)

    def numbers_sent(self, asked: Question) -> set[int]:
        """The numbers of the answers to a question that are on their way."""
        data = [message.data for inbox in self.sent for message in inbox.waiting()]
        sent = [Envelope.from_bytes(each) for each in data]
        return {each.answer_number for each in sent if each.question.id == asked.id}

    def shown(self, asked: Question) -> dict[str, Any]:
        """A question's message."""
        name = f"{SPACE}/messages/{message_id(asked.id)}"
        return dict(http.get(f"{self.cloud.places.url}/v1/{name}").json())


@dataclass(frozen=True)
class Asked:
    """A question, and the event that it came with."""

    question: Question
    event: dict[str, Any]


def prepare(stage: Stage, asked: Asked, before: Before) -> None:
    """Let happen what has happened before."""
    preparing = actors(stage, asked, SAID)
    assert before == SAID or preparing["the event"]()
    assert before != SORRY or preparing["tell"]()


def actors(stage: Stage, asked: Asked, before: Before) -> dict[str, Actor]:
    """Everybody, by name."""
    answer_step = Step("answer", "writing", 120, lambda: stage.answering, answer, "dead-letters")
    teller = Teller(lambda: stage.telling)
    first, later = (_envelope(asked.question, number) for number in (0, 1))
    letter = {"Dead-Letter-Step": "answer", "Dead-Letter-Reason": "x"}
    again = click("classic", stage.shown(asked.question), action="again") if before == SORRY else None
    forget = _in_thread("classic-slash-forget", asked.event["thread"], " yes")

    def happens(event: Any) -> Actor:
        return lambda: stage.ingest.over_pubsub(event)[1] == 200

    return {
        "answer": _pushed(answer_step, first),
        "a later answer": _pushed(answer_step, later),
        "tell": _pushed(teller, first, **letter, **{"X-Goog-Pubsub-Message-Id": "1"}),
        "tell of a later one": _pushed(teller, later, **letter, **{"X-Goog-Pubsub-Message-Id": "2"}),
        "progress": _pushed(_step(stage.services(), lambda sent, *_: sent), first),
        "still working": _pushed(_slow_step(stage.services(Telling)), first),
        "trying again": _pushed(_step(stage.services(), _failing_once()), first),
        "ask again": happens(again),
        "replay": lambda: _replayed(asked.question),
        "forget": happens(forget),
        "the event": happens(asked.event),
        "the event again": happens(asked.event),
    }


def _in_thread(name: str, thread: dict[str, Any], words: str) -> dict[str, Any]:
    event = with_message(anew(golden(name)), argumentText=words, text=words, thread=thread)
    event["thread"], space = thread, {**event["message"]["space"], "name": SPACE}
    event["space"] = {**event["space"], "name": SPACE}
    event["message"]["space"] = space
    return event


def _envelope(asked: Question, number: int) -> Envelope:
    words = f"How do I configure the VPN {number}?"
    return envelope(
        question=asked, search_query=words, contexts=(context(),), answer_number=number, button=AUDIENCE
    )


def _pushed(step: Any, sent: Envelope, **headers: str) -> Actor:
    given, body = push(sent)
    return lambda: step.receive({**given, **headers}, body)[1] == 204


def _step(services: Services, work: Any, slow_after: float = SLOW_AFTER) -> Step[Any]:
    return Step(
        name="retrieve",
        stage="searching",
        seconds=60,
        services=lambda: services,
        work=work,
        dead_letter_topic="dead-letters",
        publishes_to="findings",
        afterwards=show_found,
        slow_after=slow_after,
    )


def _failing_once() -> Callable[..., Envelope]:
    attempts = count()

    def work(sent: Envelope, _services: Any, _deadline: Deadline) -> Envelope:
        if not next(attempts):
            raise Transient("rag_unavailable")
        return sent

    return work


def _slow_step(services: Services) -> Step[Any]:
    """A step that goes on when its timer has said that it takes longer."""

    def work(sent: Envelope, services: Any, _deadline: Deadline) -> Envelope:
        services.display.over.wait(30)
        return sent

    return _step(services, work, slow_after=0)


def _replayed(asked: Question) -> bool:
    """Replay the case of a question, as an operator does; returns whether there is nothing left to do."""
    world = Operators()
    try:
        result = replay(document_id(asked.id), Order(new_operation("replay", "ops@example.com")), world)
    except (StepError, GoogleAPICallError):
        return False
    return result.outcome not in {Outcome.FAILED, Outcome.CLAIMED}
