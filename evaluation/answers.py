"""The quality of answers, as far as it can be measured without a judge: honesty, citations, shared words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from answer_fn.compose import Clarification, compose
from answer_fn.prompts import RagAnswer
from evaluation.data import Status, Task
from local.stand_ins.rag.terms import is_japanese, terms
from shared.messages.envelope import Context

_CITATION = re.compile(r"\[(\d{1,4})\]")

End = Literal["answered", "asked back", "refused"]
Figures = dict[str, float | int | None]


@dataclass(frozen=True)
class Judged:
    """One answer: what was due, what the person saw, which part of its citations exist, whether it cites a
    passage that answers, and which part of its words is in the sources (None: nothing to judge, or the
    languages differ). `groups` are the task's."""

    expected: Status | None
    end: End
    valid_citations: float | None = None
    cites_gold: bool | None = None
    k_precision: float | None = None
    groups: tuple[str, ...] = ("all",)


def judged(
    answer: RagAnswer | None, contexts: Sequence[Context], task: Task, passages: Sequence[str] = ()
) -> Judged:
    """Judge what the product makes of what the model said; None is what is said when nothing was found.

    `passages` are the ids of the contexts in the data.
    """
    if answer is None:
        return Judged(task.status, "refused", groups=task.groups)
    composed = compose(answer, contexts)
    if isinstance(composed, Clarification):
        return Judged(task.status, "asked back", groups=task.groups)
    cited = [int(number) for number in _CITATION.findall(answer.answer)] + list(answer.sources)
    valid = [1 <= number <= len(contexts) for number in cited]
    return Judged(
        task.status,
        "answered" if composed else "refused",
        cites_gold=_cites(cited, passages, task.gold) if composed and task.gold else None,
        valid_citations=sum(valid) / len(valid) if valid else None,
        k_precision=k_precision(answer.answer, contexts) if composed else None,
        groups=task.groups,
    )


def _cites(cited: Sequence[int], passages: Sequence[str], gold: frozenset[str]) -> bool:
    return any(1 <= number <= len(passages) and passages[number - 1] in gold for number in cited)


def k_precision(answer: str, contexts: Sequence[Context]) -> float | None:
    """The share of the answer's content words that are in the sources of its language; None without any."""
    said = terms(_CITATION.sub(" ", answer))
    same = [context.text for context in contexts if is_japanese(context.text) == is_japanese(answer)]
    if not said or not same:
        return None
    known = set(terms("\n".join(same)))
    return sum(term in known for term in said) / len(said)


def summary(judgements: Sequence[Judged]) -> dict[str, Any]:
    """The figures of all answers that are not held out, and under `groups` those of each group."""
    groups = dict[str, list[Judged]]()
    for one in judgements:
        for group in one.groups:
            groups.setdefault(group, []).append(one)
    of_groups = {name: _figures(chosen) for name, chosen in sorted(groups.items()) if name != "all"}
    return {**_figures(groups.get("all", [])), "groups": of_groups}


def _figures(judgements: Sequence[Judged]) -> Figures:
    """Shares over many answers. A share is None if no answer counts for it."""
    answerable = [j for j in judgements if j.expected == "answered"]
    unanswerable = [j for j in judgements if j.expected == "unanswerable"]
    unclear = [j for j in judgements if j.expected == "clarify"]
    told = [*answerable, *unanswerable]
    return {
        "questions": len(judgements),
        "answered precision": _share([j.expected == "answered" for j in told if j.end == "answered"]),
        "answered recall": _share([j.end == "answered" for j in answerable]),
        "unanswerable precision": _share([j.expected == "unanswerable" for j in told if j.end == "refused"]),
        "unanswerable recall": _share([j.end == "refused" for j in unanswerable]),
        "answerable refused": _share([j.end == "refused" for j in answerable]),
        "asks back needlessly": _share([j.end == "asked back" for j in told]),
        "asks back when unclear": _share([j.end == "asked back" for j in unclear]),
        "cites a passage that answers": _share(
            [j.cites_gold for j in answerable if j.cites_gold is not None]
        ),
        "citations valid": _mean([j.valid_citations for j in judgements]),
        "k-precision": _mean([j.k_precision for j in judgements]),
    }


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
