"""One evaluation: the queries of each task, the passages that they find, and the answers."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation import answers
from evaluation.data import DataSet, Task
from evaluation.metrics import ndcg, paired, recall, reciprocal_rank
from evaluation.model import Model, context, envelope
from evaluation.search import Engine
from local.stand_ins.gemini.prompt import Ask, Turn
from local.stand_ins.gemini.rewrite import rewritten
from reformulate_fn.rewrite import Query
from retrieve_fn.queries import queries
from shared.language.keywords import by_rule

METRICS: dict[str, Callable[[Sequence[str], frozenset[str]], float]] = {
    "recall@5": lambda ranking, gold: recall(ranking, gold, 5),
    "nDCG@5": lambda ranking, gold: ndcg(ranking, gold, 5),
    "MRR@10": lambda ranking, gold: reciprocal_rank(ranking, gold, 10),
}
BASE = "last turn"
#: The way in which `make run` searches. The answers are written from its results.
AS_LOCAL = "rewrite + keywords"
#: Passages given to the model, as `retrieve_fn` does by default.
TOP_K = 6

Track = Callable[[Iterable[Task]], Iterable[Task]]
Scores = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Row:
    """A task, the queries it was searched with (by name), and what each scored (by name, then metric).

    `fault` is why the model's rewrite could not be used, None when it could.
    """

    task: Task
    queries: dict[str, tuple[str, ...]]
    fault: str | None
    scores: Scores


def evaluate(
    data: DataSet, engine: Engine, model: Model, track: Track, *, with_answers: bool
) -> dict[str, Any]:
    """Everything that is reported, ready for JSON.

    Raises Permanent or Transient when the model cannot be asked for an answer.
    """
    rows, judgements = list[Row](), list[answers.Judged]()
    for task in track(data.tasks):
        rewrite = Query(task.published) if task.published else model.rewrite(task)
        ways = _ways(task, rewrite.text, engine)
        if task.gold:
            rows.append(Row(task, ways, rewrite.fault, _scores(task, ways, engine)))
        if with_answers and task.status:
            judgements.append(_judged(task, ways[AS_LOCAL], engine, model))
    report: dict[str, Any] = {
        "data": data.name,
        "passages": len(data.passages),
        "tasks": len(data.tasks),
        "model": {"served": model.served, "rewrites": model.rewrites, "answers": model.answers},
        "retrieval": {group: _retrieval(chosen) for group, chosen in _grouped(rows).items()},
        "rewrites": _rewrites([row for row in rows if not row.task.apart]),
    }
    if judgements:
        report["answers"] = answers.summary(judgements)
    return report


def _ways(task: Task, rewrite: str, engine: Engine) -> dict[str, tuple[str, ...]]:
    """The queries for each way to search, by its name. The results of several queries are merged.

    A rewrite that came with the data counts as the model's: it is a recorded output.
    """
    rule = salience(task, engine)
    rewritten = envelope(task, search_query=rewrite)
    ways = {
        BASE: (task.question,),
        "rewrite": (rewrite,),
        "rewrite + keywords": queries(rewritten, "lexical", fusion=False),
        "salience": (rule,),
        "fallback": (by_rule(rewritten),),
        "fusion": queries(rewritten, "lexical", fusion=True),
        "last turn + salience": (task.question, rule),
    }
    if task.gold_rewrite:
        gold = envelope(task, search_query=task.gold_rewrite)
        ways["gold"] = (task.gold_rewrite,)
        ways["gold, fusion"] = queries(gold, "lexical", fusion=True)
    return ways


def salience(task: Task, engine: Engine) -> str:
    """The query made by rule. The rule knows how rare each word is in the passages."""
    history = [Turn(role=role, text=text) for role, text in task.history]
    return rewritten(Ask(history=history, question=task.question, language=task.language), engine.index)


def _scores(task: Task, ways: dict[str, tuple[str, ...]], engine: Engine) -> Scores:
    rankings = {name: engine.ranking(*dict.fromkeys(asked)) for name, asked in ways.items()}
    return {
        name: {metric: score(ranking, task.gold) for metric, score in METRICS.items()}
        for name, ranking in rankings.items()
    }


def _judged(task: Task, asked: tuple[str, ...], engine: Engine, model: Model) -> answers.Judged:
    hits = engine.hits(TOP_K, *asked)
    contexts = tuple(map(context, hits))
    said = model.answer(task, contexts) if contexts else None
    return answers.judged(said, contexts, task, engine.ids(hits))


def _grouped(rows: list[Row]) -> dict[str, list[Row]]:
    groups = dict[str, list[Row]]()
    for row in rows:
        for group in row.task.groups:
            groups.setdefault(group, []).append(row)
    return dict(sorted(groups.items()))


def _retrieval(rows: list[Row]) -> dict[str, Any]:
    """For each way to search: the mean of each metric, and of its difference from the last turn."""
    ways = [name for name in rows[0].scores if all(name in row.scores for row in rows)]
    return {"questions": len(rows), "ways": {way: _of_way(way, rows) for way in ways}}


def _of_way(way: str, rows: list[Row]) -> dict[str, Any]:
    figures = dict[str, Any]()
    for metric in METRICS:
        scores = [row.scores[way][metric] for row in rows]
        figures[metric] = sum(scores) / len(scores)
        if way != BASE:
            base = [row.scores[BASE][metric] for row in rows]
            figures[f"{metric} over {BASE}"] = asdict(paired(scores, base))
    return figures


def _rewrites(rows: list[Row]) -> dict[str, Any]:
    """Of the questions with a history: how many each way changed, hurt and saved (by nDCG@5)."""
    asked = [row for row in rows if row.task.history]
    faults = Counter(row.fault for row in asked if row.fault)
    unusable = {"unusable": sum(faults.values()) / len(asked) if asked else None, "faults": dict(faults)}
    shares: dict[str, Any] = {"rewrite": unusable, "salience": {}, "fallback": {}}
    for way, figures in shares.items():
        gains = [row.scores[way]["nDCG@5"] - row.scores[BASE]["nDCG@5"] for row in asked]
        figures["questions"] = len(asked)
        figures["changed"] = _share([row.queries[way] != row.queries[BASE] for row in asked])
        figures["hurt"] = _share([gain < 0 for gain in gains])
        figures["saved"] = _share([gain > 0 for gain in gains])
    return shares


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
