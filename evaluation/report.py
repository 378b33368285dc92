"""Figures as a Markdown table, on the terminal and in `docs/quality.md`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

METRICS = ("recall@5", "nDCG@5", "MRR@10")
_INTERVAL = "nDCG@5 over last turn"


def tables(report: dict[str, Any]) -> str:
    """The report in Markdown: retrieval by group and way, rewrites, answers."""
    return "\n".join([*_retrieval(report), "", *_rewrites(report), *_answers(report), ""])


def write_between(path: Path, name: str, text: str) -> None:
    """Replace what stands between the two comments of this name in a page.

    Raises ValueError when the page has no such place.
    """
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = path.read_text(encoding="utf-8")
    changed, count = re.subn(
        f"{re.escape(start)}.*?{re.escape(end)}", lambda _: f"{start}\n{text}{end}", page, flags=re.DOTALL
    )
    if not count:
        raise ValueError(f"{path} has no place for the figures: {start} and {end}")
    path.write_text(changed, encoding="utf-8")


def _retrieval(report: dict[str, Any]) -> Iterator[str]:
    yield f"| questions | searched with | {' | '.join(METRICS)} | nDCG@5 over the last turn (95 %) |"
    yield f"|---|---|{'---|' * len(METRICS)}---|"
    for group, found in report["retrieval"].items():
        for way, figures in found["ways"].items():
            cells = [f"{figures[metric]:.3f}" for metric in METRICS]
            yield f"| {group} ({found['questions']}) | {way} | {' | '.join(cells)} | {_interval(figures)} |"


def _interval(figures: dict[str, Any]) -> str:
    if _INTERVAL not in figures:
        return ""
    gain = figures[_INTERVAL]
    return f"{gain['mean']:+.3f} [{gain['low']:+.3f}, {gain['high']:+.3f}]"


def _rewrites(report: dict[str, Any]) -> Iterator[str]:
    yield "| of the questions with a history | unusable | changed | hurt | saved |"
    yield "|---|---|---|---|---|"
    for way, shares in report["rewrites"].items():
        cells = " | ".join(_percent(shares.get(name)) for name in ("unusable", "changed", "hurt", "saved"))
        yield f"| {way} ({shares['questions']}) | {cells} |"


def _answers(report: dict[str, Any]) -> Iterator[str]:
    if "answers" not in report:
        return
    figures = dict(report["answers"])
    yield from ("", f"| answers ({figures.pop('questions')}) | |", "|---|---|")
    for name, value in figures.items():
        yield f"| {name} | {_percent(value)} |"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
