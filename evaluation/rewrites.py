"""What people's rewrites show without a search: which of them the guard refuses, and how many of the words
that people add are found by the rule without a model and without the articles (the fallback)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.data import DataSet, Task
from evaluation.metrics import interval
from evaluation.model import envelope
from evaluation.run import Track
from local.stand_ins.rag.terms import terms
from reformulate_fn.guard import fault
from shared.language.follow_ups import stands_alone
from shared.language.keywords import keywords
from shared.messages.envelope import Envelope


@dataclass(frozen=True)
class Row:
    """What one rewrite shows; shares are of content words, and None where there are none to take a share of.

    `fault` is why the guard refuses it, None when it does not. Of the words that the person added, the rule
    holds the share `recall`, and the share `said` is anywhere in the history. `precision` is the share of the
    rule's words that the person added, too. `unchanged`: capitals, punctuation and spaces aside.
    """

    groups: tuple[str, ...]
    fault: str | None
    unchanged: bool
    recall: float | None
    said: float | None
    precision: float | None


def evaluate(data: DataSet, track: Track) -> dict[str, Any]:
    """Everything that is reported of questions with a `gold_rewrite`, ready for JSON."""
    groups = dict[str, list[Row]]()
    for task in track(data.tasks):
        row = _row(task, task.gold_rewrite or task.question)
        for group in row.groups:
            groups.setdefault(group, []).append(row)
    people = {group: _figures(rows) for group, rows in sorted(groups.items())}
    return {"data": data.name, "tasks": len(data.tasks), "people": people}


def _row(task: Task, rewrite: str) -> Row:
    added = set(terms(rewrite)).difference(terms(task.question))
    said = {term for _, text in task.history for term in terms(text)}
    by_rule = list(_by_rule(envelope(task)))
    held = set[str]().union(*by_rule)
    return Row(
        groups=("all", f"{task.kind} questions"),
        fault=fault(rewrite, task.question, task.language),
        unchanged=_letters(rewrite) == _letters(task.question),
        recall=len(added & held) / len(added) if added else None,
        said=len(added & said) / len(added) if added else None,
        precision=sum(bool(word) and word <= added for word in by_rule) / len(by_rule) if by_rule else None,
    )


def _by_rule(sent: Envelope) -> Iterator[set[str]]:
    """The index terms of each word that the rule adds; of one that is no content word, none."""
    if not stands_alone(sent):
        for word in keywords(sent.question.text, ((turn.role, turn.text) for turn in sent.history)):
            yield set(terms(word.surface))


def _letters(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())


def _figures(rows: Sequence[Row]) -> dict[str, Any]:
    """Means have how many questions they are of, and their 95 % bootstrap interval; None without any."""
    faults = Counter(row.fault for row in rows if row.fault)
    return {
        "questions": len(rows),
        "refused": faults.total(),
        "faults": dict(faults),
        "recall": _mean([row.recall for row in rows]),
        "said before": _mean([row.said for row in rows]),
        "precision": _mean([row.precision for row in rows]),
        "unchanged stand alone": _mean([float(row.precision is None) for row in rows if row.unchanged]),
    }


def _mean(values: Sequence[float | None]) -> dict[str, float] | None:
    known = [value for value in values if value is not None]
    return {"questions": len(known), **asdict(interval(known))} if known else None
