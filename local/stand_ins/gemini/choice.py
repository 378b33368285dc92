"""Chooses the blocks of the answer by their scores."""

from dataclasses import dataclass

from local.stand_ins.gemini.passages import Block
from local.stand_ins.gemini.prompt import Source

#: Steps that are asked for are quoted if they have at least this share of the best score.
STEPS_AT_LEAST = 0.5
#: Blocks with at least this share of the best score are quoted, too, up to a number of sentences and items.
NEARLY_AS_GOOD = 0.7
MOST_UNITS = 6


@dataclass(frozen=True)
class Candidate:
    """A block of a source, its place among all, how well it answers, and the part of the question it has."""

    position: int
    source: Source
    block: Block
    score: float
    evidence: float


def chosen_of(candidates: list[Candidate], *, asks_how: bool) -> list[Candidate]:
    """The best block, the best steps if they are asked for, and others nearly as good while there is room: in
    the order of the sources, each with the code right behind it."""
    return _with_code(_best(candidates, asks_how=asks_how), candidates)


def _best(candidates: list[Candidate], *, asks_how: bool) -> list[Candidate]:
    ranked = sorted(candidates, key=lambda candidate: (-candidate.score, candidate.position))
    chosen = _with_lead(ranked[0], candidates)
    steps = [c for c in ranked if c.block.kind == "steps" and c.score >= STEPS_AT_LEAST * ranked[0].score]
    if asks_how and steps:
        return list(dict.fromkeys([*chosen, *_with_lead(steps[0], candidates)]))
    for candidate in ranked:
        good = candidate not in chosen and candidate.score >= NEARLY_AS_GOOD * ranked[0].score
        if good and sum(len(c.block.units) for c in (*chosen, candidate)) <= MOST_UNITS:
            chosen.append(candidate)
    return chosen


def _with_lead(candidate: Candidate, candidates: list[Candidate]) -> list[Candidate]:
    """A block. A list comes with the paragraph that introduces it."""
    if candidate.block.kind == "paragraph":
        return [candidate]
    return [*(other for other in candidates if _leads_to(other, candidate)), candidate]


def _with_code(chosen: list[Candidate], candidates: list[Candidate]) -> list[Candidate]:
    """The chosen blocks in the order of the sources, each with the code that directly follows it."""
    kept = list[Candidate]()
    for candidate in candidates:
        follows = bool(kept) and candidate.block.kind == "code" and _is_next(candidate, kept[-1])
        if candidate in chosen or follows:
            kept.append(candidate)
    return kept


def _is_next(candidate: Candidate, before: Candidate) -> bool:
    return (
        candidate.position == before.position + 1
        and candidate.source == before.source
        and candidate.block.heading == before.block.heading
    )


def _leads_to(candidate: Candidate, target: Candidate) -> bool:
    return candidate.block.kind == "paragraph" and _is_next(target, candidate)
