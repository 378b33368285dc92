"""What a question may cost in calls: counted on the stand-ins, one question at a time, nothing failing.

Two calls are in sequence when one comes after the other was answered.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from local.stand_ins.faults import Call
from tests.conftest import SmallCloud
from tests.support.in_a_row import Asked, InARow

FOLLOW_UP = "Can you explain that in more detail?"
WRITES = {"POST", "PUT"}


@dataclass(frozen=True)
class Budget:
    """The most calls of one question. `before_publishing` and `before_posting` are those in sequence, of
    Firestore and Chat, before it is published and between the model's answer and Chat's final write."""

    firestore: int
    before_publishing: int
    before_posting: int
    chat_creates: int
    chat_updates: int
    chat_reads: int


#: The updates are progress, twice in a follow-up, and the final message.
FIRST_QUESTION = Budget(7, 2, 1, chat_creates=1, chat_updates=2, chat_reads=0)
FOLLOW_UP_QUESTION = Budget(9, 2, 1, chat_creates=1, chat_updates=3, chat_reads=0)


@pytest.fixture
def functions(small_cloud: SmallCloud, faults: Any, inbox: Any) -> InARow:
    """The four functions, with all clients made and all tokens fetched."""
    functions = InARow(small_cloud, inbox)
    functions.ask("What is MFA?")
    return functions


def test_a_question_costs_no_more_calls_than_its_budget(functions: InARow) -> None:
    first = functions.ask("How do I configure the VPN?")
    follow_up = functions.ask(FOLLOW_UP, first.thread)

    print(table({"first question": first, "follow-up": follow_up}))  # noqa: T201 - for `pytest -s`
    for asked, budget in ((first, FIRST_QUESTION), (follow_up, FOLLOW_UP_QUESTION)):
        spent = spent_by(asked)
        over = {name: most for name, most in vars(budget).items() if vars(spent)[name] > most}
        assert not over, f"{spent} is over {over}"


def spent_by(asked: Asked) -> Budget:
    """What a question has cost."""
    counted = Counter((call.service, call.method) for call in asked.calls)
    return Budget(
        firestore=sum(count for (service, _), count in counted.items() if service == "firestore"),
        before_publishing=in_sequence(until(asked.of("ingest"), "pubsub", {"Publish"})),
        before_posting=in_sequence(until(after_the_model(asked.of("answer")), "chat", WRITES)),
        chat_creates=counted["chat", "POST"],
        chat_updates=counted["chat", "PUT"],
        chat_reads=counted["chat", "GET"],
    )


def after_the_model(calls: list[Call]) -> list[Call]:
    """The calls that have come after the model's answer."""
    answered = max(ended(call) for call in calls if call.service == "gemini")
    return [call for call in calls if call.came >= answered]


def until(calls: list[Call], service: str, methods: set[str]) -> list[Call]:
    """The calls that were answered before the first one of these."""
    first = next(call.came for call in calls if call.service == service and call.method in methods)
    return [call for call in calls if ended(call) <= first]


def in_sequence(calls: Iterable[Call]) -> int:
    """How many calls of Firestore and Chat have waited for each other, in the longest row of such."""
    length, answered = 0, 0.0
    for call in sorted(calls, key=ended):
        if call.service in {"firestore", "chat"} and call.came >= answered:
            length, answered = length + 1, ended(call)
    return length


def ended(call: Call) -> float:
    """When a call was answered."""
    assert call.answered is not None
    return call.answered


def table(questions: dict[str, Asked]) -> str:
    """The calls of each function, by service and method, and what they come to."""
    lines = []
    for kind, asked in questions.items():
        lines.append(f"{kind}: {spent_by(asked)}")
        for function in asked.began:
            counted = Counter(f"{call.service} {call.method}" for call in asked.of(function))
            lines.append(
                f"  {function:12} " + ", ".join(f"{count} {name}" for name, count in counted.items())
            )
    return "\n".join(lines)


def test_calls_that_are_made_at_once_are_not_in_sequence() -> None:
    def call(came: float, answered: float, service: str = "firestore") -> Call:
        return Call(service, "Commit", came, answered)

    assert in_sequence([call(0, 2), call(1, 3), call(2, 4)]) == 2
    assert in_sequence([call(0, 1), call(1, 2, "chat"), call(2, 3, "pubsub")]) == 2
