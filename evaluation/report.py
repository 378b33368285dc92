"""The figures as Markdown tables, for the terminal and for `docs/quality.md`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluation.data import APART

METRICS = ("recall@5", "nDCG@5", "MRR@10")
#: The groups that are shown in full, also in the separate sets. Each other group has one line.
IN_FULL = ("all", "later turns")
IN_SHORT = ("last turn", "rewrite", "salience", "fallback", "fusion", "gold")

OF_ANSWERS = (
    "answered recall", "answerable refused", "unanswerable recall", "asks back needlessly",
    "asks back when unclear", "cites a passage that answers", "citations valid", "k-precision",
)  # fmt: skip

#: Of people's rewrites: what a column is called, and its figure.
OF_PEOPLE = {
    "of the added words, the rule holds": "recall",
    "of the added words, said before": "said before",
    "of the rule's words, added": "precision",
    "left unchanged, the rule adds nothing": "unchanged stand alone",
}


def tables(report: dict[str, Any]) -> str:
    """The report in Markdown: retrieval in full and by group, rewrites, answers; or people's rewrites."""
    if "people" in report:
        return "\n".join([*_people(report["people"]), ""])
    return "\n".join(
        [*_in_full(report), "", *_by_group(report), "", *_rewrites(report), *_answers(report), ""]
    )


def write_between(path: Path, name: str, text: str) -> None:
    """Replace the text between the two comments with this name in a page.

    Raises ValueError if the page does not have these comments.
    """
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = path.read_text(encoding="utf-8")
    changed, count = re.subn(
        f"{re.escape(start)}.*?{re.escape(end)}", lambda _: f"{start}\n{text}{end}", page, flags=re.DOTALL
    )
    if not count:
        raise ValueError(f"{path} has no place for the figures: {start} and {end}")
    path.write_text(changed, encoding="utf-8")


def _in_full(report: dict[str, Any]) -> Iterator[str]:
    yield f"| questions | searched with | {' | '.join(METRICS)} | nDCG@5 over the last turn (95 %) |"
    yield f"|---|---|{'---|' * len(METRICS)}---|"
    groups = report["retrieval"]
    apart = sorted(name for name in groups if name.startswith(APART) and name.split(", ")[-1] in IN_FULL)
    for group in (*(name for name in IN_FULL if name in groups), *apart):
        found = groups[group]
        for way, figures in found["ways"].items():
            cells = " | ".join(f"{figures[metric]:.3f}" for metric in METRICS)
            yield f"| {group} ({found['questions']}) | {way} | {cells} | {_interval(figures)} |"


def _interval(figures: dict[str, Any]) -> str:
    gain = figures.get("nDCG@5 over last turn")
    return f"{gain['mean']:+.3f} [{gain['low']:+.3f}, {gain['high']:+.3f}]" if gain else ""


def _by_group(report: dict[str, Any]) -> Iterator[str]:
    yield f"| recall@5 / nDCG@5 | {' | '.join(IN_SHORT)} |"
    yield f"|---|{'---|' * len(IN_SHORT)}"
    for group, found in report["retrieval"].items():
        ways = [found["ways"].get(way) for way in IN_SHORT]
        cells = [f"{way['recall@5']:.3f} / {way['nDCG@5']:.3f}" if way else "" for way in ways]
        yield f"| {group} ({found['questions']}) | {' | '.join(cells)} |"


def _rewrites(report: dict[str, Any]) -> Iterator[str]:
    yield "| of the questions with a history | unusable | changed | hurt | saved |"
    yield "|---|---|---|---|---|"
    for way, shares in report["rewrites"].items():
        cells = " | ".join(_percent(shares.get(name)) for name in ("unusable", "changed", "hurt", "saved"))
        yield f"| {way} ({shares['questions']}) | {cells} |"


def _answers(report: dict[str, Any]) -> Iterator[str]:
    if "answers" not in report:
        return
    figures = {name: value for name, value in report["answers"].items() if name != "groups"}
    yield from ("", f"| answers ({figures.pop('questions')}) | |", "|---|---|")
    for name, value in figures.items():
        yield f"| {name} | {_percent(value)} |"
    yield from ("", f"| answers | {' | '.join(OF_ANSWERS)} |", f"|---|{'---|' * len(OF_ANSWERS)}")
    for group, of_group in report["answers"]["groups"].items():
        cells = " | ".join(_percent(of_group[name]) for name in OF_ANSWERS)
        yield f"| {group} ({of_group['questions']}) | {cells} |"


def _people(groups: dict[str, Any]) -> Iterator[str]:
    yield f"| people's rewrites | refused by the guard | {' | '.join(OF_PEOPLE)} |"
    yield f"|---|---|{'---|' * len(OF_PEOPLE)}"
    for group, figures in groups.items():
        faults = ", ".join(f"{count} {reason}" for reason, count in figures["faults"].items())
        refused = f"{figures['refused']} ({faults})" if faults else "0"
        cells = " | ".join(_share_of(figures[name]) for name in OF_PEOPLE.values())
        yield f"| {group} ({figures['questions']}) | {refused} | {cells} |"


def _share_of(mean: dict[str, float] | None) -> str:
    if mean is None:
        return "–"
    return f"{mean['mean']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}] of {mean['questions']:.0f}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
