"""Checks Chat's messages over time. If something lower covers an end, the end must come back soon.

The record or the case of a question says which text is its end. An answer is higher than an apology, and
everything else (progress, a notice) is lower than both. If the asker has the question answered again, the
earlier end may be covered. So the check begins at that time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from chaos.asked import Asked, Done
from chaos.outside import Outside
from chaos.verdict import Kind, Verdict, Violation
from chaos.watch import Shown, Watch
from chaos.world import CASES, Json, by_question, says_the_same

#: Seconds for which something lower may cover an end.
SOON = 10.0


def followed(
    verdict: Verdict,
    asked: Iterable[Asked],
    outside: Outside,
    watch: Watch,
    done: Done,
    *,
    since: float = 0.0,
) -> Verdict:
    """The verdict, with the seconds for which ends were covered since a time (`time.monotonic()`)."""
    cases = by_question(outside.documents, CASES)
    covers: list[float] = []
    violations: list[Violation] = []
    for question in asked:
        begin = max(since, done.anew.get(question.name, 0.0))
        case = next(iter(cases.get(question.name, {}).values()), {})
        for message in verdict.shown.get(question.name, []):
            states = _since(watch.history.get(message["name"], []), begin, standing=begin == since)
            for seconds, lower in _covers(states, message, str(case.get("reference") or "-")):
                covers.append(seconds)
                if seconds > SOON:
                    detail = f"{seconds:.1f} s by {lower[:60]!r}"
                    violations.append(Violation(Kind.COVERED, question.name, detail))
    return replace(verdict, covers=covers, violations=[*verdict.violations, *violations])


def _since(states: list[Shown], begin: float, *, standing: bool) -> list[Shown]:
    """The states from a time on; with what is `standing` then, unless it was told to give way just then."""
    before = [state for state in states if state.at < begin]
    return [*(before[-1:] if standing else ()), *states[len(before) :]]


def _covers(states: list[Shown], end: Json, reference: str) -> Iterator[tuple[float, str]]:
    """How long something lower covered the highest state so far, and the first such text."""
    highest, covered_at, by = 0, None, ""
    for state in states:
        rank = _rank(state, str(end["text"]), reference)
        if rank < highest and covered_at is None:
            covered_at, by = state.at, state.text
        elif rank >= highest:
            if covered_at is not None:
                yield state.at - covered_at, by
            highest, covered_at = rank, None


def _rank(state: Shown, end: str, reference: str) -> int:
    if state.progress:
        return 0
    return 2 if says_the_same(state.text, end) else int(reference in state.text)
