"""Matches messages to questions by place and text, and never by the way the bot derives its ids."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial

from chaos.asked import Asked
from chaos.outside import Outside
from chaos.watch import place_of
from chaos.world import FORGOT, FORGOTTEN_QUESTION, Ending, Json, is_notice, is_pointer, shows


@dataclass(frozen=True)
class Matched:
    """Messages, sorted. By question: `shown` say its recorded ending, in the order of the parts; `instead` is
    what stands where no recorded ending does. By place: `spare` belong to no question; `pointers` point to
    late answers.
    """

    shown: dict[str, list[Json]] = field(default_factory=dict)
    instead: dict[str, Json] = field(default_factory=dict)
    spare: dict[str, list[Json]] = field(default_factory=dict)
    pointers: dict[str, list[Json]] = field(default_factory=dict)

    @property
    def firsts(self) -> dict[str, Json]:
        """The first message of each question that has any."""
        return self.instead | {name: messages[0] for name, messages in self.shown.items()}


def match(
    asked: Iterable[Asked], endings: dict[str, Ending], entered: Collection[str], outside: Outside
) -> Matched:
    """Assign messages to each question. `entered` has the names of questions with something in Firestore."""
    questions: dict[str, list[Asked]] = defaultdict(list)
    for question in asked:
        questions[question.place].append(question)
    messages: dict[str, list[Json]] = defaultdict(list)
    of_forgetting: dict[str, list[Json]] = defaultdict(list)
    matched = Matched(pointers=defaultdict(list))
    for message in outside.messages:
        if message.get("text") in FORGOT | FORGOTTEN_QUESTION:
            kept = of_forgetting
        else:
            kept = matched.pointers if is_pointer(message) else messages
        kept[place_of(message)].append(message)
    for place in {*questions, *messages, *of_forgetting}:
        left = _Left(messages[place])
        _by_text(questions[place], endings, left, matched)
        _by_order(questions[place], entered, left, matched, outside.not_taken)
        matched.spare[place] = [*left.messages, *of_forgetting[place]]
    return matched


class _Left:
    """The messages of a place that are not assigned yet, oldest first."""

    def __init__(self, messages: list[Json]) -> None:
        self.messages = list(messages)

    def take(self, question: Asked, fits: Callable[[Json], bool]) -> Json | None:
        """The oldest suitable message after the question."""
        for message in self.messages:
            if message["createTime"] > question.created and fits(message):
                self.messages.remove(message)
                return message
        return None


def _by_text(questions: list[Asked], endings: dict[str, Ending], left: _Left, matched: Matched) -> None:
    # From the newest on: of two with the same answer, the later one cannot have the earlier message.
    for question in reversed(questions):
        for text in endings[question.name].texts if question.name in endings else ():
            message = left.take(question, partial(shows, text=text))
            if message is not None:
                matched.shown.setdefault(question.name, []).append(message)
            elif question.name not in matched.shown:
                break


def _by_order(
    questions: list[Asked],
    entered: Collection[str],
    left: _Left,
    matched: Matched,
    not_taken: frozenset[str],
) -> None:
    without = [each for each in reversed(questions) if each.name not in matched.shown]
    # Questions that Chat could not deliver may have no message, so they choose last.
    for question in sorted(without, key=lambda each: each.name in not_taken):
        # A short reply ends a question that never entered the pipeline. Otherwise it answers a click.
        sentence = question.name not in entered
        message = left.take(question, is_notice if sentence else _is_no_notice)
        if message := message or left.take(question, lambda _: True):
            matched.instead[question.name] = message


def _is_no_notice(message: Json) -> bool:
    return not is_notice(message)
