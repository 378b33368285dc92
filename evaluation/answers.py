"""How good an answer is, as far as that shows without a judge: honesty, citations, words of the sources."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from answer_fn.compose import compose
from answer_fn.prompts import RagAnswer
from evaluation.data import Status
from local.rag.terms import is_japanese, terms
from shared.envelope import Context

_CITATION = re.compile(r"\[(\d{1,4})\]")


@dataclass(frozen=True)
class Judged:
    """One answer: was it given, did it ask back, which part of its citations exist, and which part of its
    words is in the sources (None: nothing to judge, or the languages differ)."""

    expected: Status | None
    answered: bool
    asks_back: bool
    valid_citations: float | None
    k_precision: float | None


def judged(answer: RagAnswer | None, contexts: Sequence[Context], expected: Status | None) -> Judged:
    """Judge what the model said; None is what is said when nothing was found."""
    if answer is None:
        return Judged(expected, answered=False, asks_back=False, valid_citations=None, k_precision=None)
    composed = compose(answer, contexts)
    cited = [int(number) for number in _CITATION.findall(answer.answer)] + list(answer.sources)
    valid = [1 <= number <= len(contexts) for number in cited]
    return Judged(
        expected,
        answered=composed is not None,
        asks_back=composed is None and answer.answer.rstrip().endswith(("?", "？")),
        valid_citations=sum(valid) / len(valid) if valid else None,
        k_precision=k_precision(answer.answer, contexts) if composed else None,
    )


def k_precision(answer: str, contexts: Sequence[Context]) -> float | None:
    """The share of the answer's content words that are in the sources of its language; None without any."""
    said = terms(_CITATION.sub(" ", answer))
    same = [context.text for context in contexts if is_japanese(context.text) == is_japanese(answer)]
    if not said or not same:
        return None
    known = set(terms("\n".join(same)))
    return sum(term in known for term in said) / len(said)


def summary(judgements: Sequence[Judged]) -> dict[str, float | int | None]:
    """Shares over many answers, None where there is nothing to take a share of."""
    answerable = [j for j in judgements if j.expected == "answered"]
    unanswerable = [j for j in judgements if j.expected == "unanswerable"]
    unclear = [j for j in judgements if j.expected == "clarify"]
    told = [*answerable, *unanswerable]
    return {
        "questions": len(judgements),
        "answered precision": _share([j.expected == "answered" for j in told if j.answered]),
        "answered recall": _share([j.answered for j in answerable]),
        "unanswerable precision": _share([j.expected == "unanswerable" for j in told if not j.answered]),
        "unanswerable recall": _share([not j.answered for j in unanswerable]),
        "answerable refused": _share([not j.answered for j in answerable]),
        "citations valid": _mean([j.valid_citations for j in judgements]),
        "k-precision": _mean([j.k_precision for j in judgements]),
        "asks back when unclear": _share([j.asks_back for j in unclear]),
    }


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
