"""Compares the figures of our own conversations with recorded figures. No figure may become worse."""

from collections.abc import Iterator
from typing import Any

from evaluation.data import APART

#: How far a figure may fall. The same code gives the same figures; this is for another platform's rounding.
TOLERANCE = 0.002
#: Figures for which less is better.
_LESS_IS_BETTER = ("answerable refused", "asks back needlessly")


def figures(report: dict[str, Any]) -> dict[str, float]:
    """The figures that are watched, by name. Sets apart are not: a gate is something to tune for."""
    found = dict(_retrieval(report)) | dict(_answers(report))
    return {name: value for name, value in found.items() if APART not in name}


def fallen(now: dict[str, float], recorded: dict[str, float]) -> list[str]:
    """One line for each recorded figure that is now worse or missing."""
    lines = list[str]()
    for name, before in recorded.items():
        after = now.get(name)
        if after is None:
            lines.append(f"{name}: {before:.3f} before, not measured now")
        elif _loss(name, before, after) > TOLERANCE:
            lines.append(f"{name}: {before:.3f} before, {after:.3f} now")
    return lines


def _loss(name: str, before: float, after: float) -> float:
    return after - before if name.endswith(_LESS_IS_BETTER) else before - after


def _retrieval(report: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for group, found in report["retrieval"].items():
        for way in ("last turn", "salience", "fallback", "fusion"):
            for metric in ("recall@5", "nDCG@5"):
                yield f"{group}, {way}, {metric}", found["ways"][way][metric]


def _answers(report: dict[str, Any]) -> Iterator[tuple[str, float]]:
    figures = report.get("answers", {})
    yield from _known("answers", figures)
    for group, of_group in figures.get("groups", {}).items():
        yield from _known(f"answers, {group}", of_group)


def _known(name: str, figures: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for figure, value in figures.items():
        if figure not in {"questions", "groups"} and value is not None:
            yield f"{name}, {figure}", value
