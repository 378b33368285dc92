"""Chaos: an end that something lower covers is put back soon, or it is reported."""

from dataclasses import dataclass, field

import pytest

from chaos.asked import Done
from chaos.checker import check
from chaos.history import followed
from chaos.verdict import Kind, Verdict
from chaos.watch import Shown, Watch
from tests.support.chaos_asked import ALL, ANSWERED, APOLOGY, REPLAYED, SAID, TITLE, healthy_world

ANSWER = SAID[ANSWERED.name]


@dataclass
class History:
    """What the message of a question said, and until when (seconds) it was the next thing."""

    question: str = ANSWERED.name
    watch: Watch = field(default_factory=lambda: Watch("http://nowhere.invalid"))
    done: Done = field(default_factory=Done)

    def says(self, at: float, text: str) -> "History":
        """It says so from then on."""
        progress = text == TITLE
        self.watch.history[f"{self.question}-bot"].append(Shown(at, text, progress))
        return self

    def judged(self, since: float = 0.0) -> Verdict:
        """What the checker says of it, with a healthy world at the end."""
        outside = healthy_world()
        return followed(check(ALL, outside), ALL, outside, self.watch, self.done, since=since)


def test_progress_before_the_end_covers_nothing() -> None:
    verdict = History().says(1, TITLE).says(20, ANSWER).judged()

    assert (verdict.covers, verdict.violations) == ([], [])


@pytest.mark.parametrize("lower", [TITLE, APOLOGY, "You have asked more than 10 questions"])
def test_an_end_that_is_put_back_in_time_is_counted(lower: str) -> None:
    verdict = History().says(1, ANSWER).says(5, lower).says(9, TITLE).says(12, ANSWER).judged()

    assert (verdict.covers, verdict.violations) == ([7.0], [])


@pytest.mark.parametrize("lower", [TITLE, APOLOGY, "You have asked more than 10 questions"])
def test_an_end_that_is_put_back_late_is_reported(lower: str) -> None:
    verdict = History().says(1, ANSWER).says(5, lower).says(16, ANSWER).judged()

    assert [(each.kind, each.question) for each in verdict.violations] == [(Kind.COVERED, ANSWERED.name)]


def test_an_apology_is_an_end_that_an_answer_may_cover_and_progress_may_not() -> None:
    history = History(REPLAYED.name).says(1, APOLOGY).says(50, TITLE).says(65, SAID[REPLAYED.name])

    assert history.judged().covers == [15.0]
    assert History(REPLAYED.name).says(1, APOLOGY).says(50, SAID[REPLAYED.name]).judged().covers == []


def test_whoever_has_a_question_answered_anew_sees_progress_again() -> None:
    history = History().says(1, ANSWER).says(50, TITLE).says(65, ANSWER).says(70, TITLE).says(72, ANSWER)
    history.done.anew[ANSWERED.name] = 49.0

    verdict = history.judged()

    assert (verdict.covers, verdict.violations) == ([2.0], [])


def test_what_stood_before_counts_from_then_on() -> None:
    history = History().says(1, ANSWER).says(5, TITLE).says(16, ANSWER).says(50, TITLE).says(52, ANSWER)

    assert history.judged(since=40).covers == [2.0]


def test_an_answer_with_its_sources_in_plain_text_does_not_cover_the_same_answer() -> None:
    plain = f"{ANSWER}\n\n**Sources**\n1. The handbook"

    assert History().says(1, ANSWER).says(5, plain).says(40, ANSWER).judged().covers == []
