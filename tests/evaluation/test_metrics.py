"""The metrics are those of trec_eval, and the intervals repeat."""

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import ndcg, paired, recall, reciprocal_rank

IDS = [f"p{number}" for number in range(30)]

rankings = st.lists(st.sampled_from(IDS), unique=True, max_size=25)
relevant = st.sets(st.sampled_from(IDS), min_size=1, max_size=12)


def by_trec_eval(ranking: list[str], gold: set[str]) -> tuple[float, float, float]:
    """recall@5, nDCG@5 and MRR@10 of trec_eval, which ranks by scores and has no cut-off for MRR."""
    qrels = {"q": dict.fromkeys(gold, 1)}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recall.5", "ndcg_cut.5", "recip_rank"})
    run = {id: float(len(ranking) - place) for place, id in enumerate(ranking)}
    figures = evaluator.evaluate({"q": run})["q"]
    first_ten = evaluator.evaluate({"q": dict(list(run.items())[:10])})["q"]
    return figures["recall_5"], figures["ndcg_cut_5"], first_ten["recip_rank"]


@settings(deadline=None)  # a test fails by what it finds, not on a busy machine
@given(ranking=rankings.filter(bool), gold=relevant)
def test_the_metrics_are_those_of_trec_eval(ranking: list[str], gold: set[str]) -> None:
    ours = (recall(ranking, gold, 5), ndcg(ranking, gold, 5), reciprocal_rank(ranking, gold, 10))

    assert ours == pytest.approx(by_trec_eval(ranking, gold))


def test_finding_nothing_scores_nothing() -> None:
    assert (recall([], {"a"}, 5), ndcg([], {"a"}, 5), reciprocal_rank([], {"a"}, 10)) == (0, 0, 0)


def test_an_interval_holds_the_mean_and_repeats() -> None:
    base, better = [0.1 * (n % 7) for n in range(40)], [0.1 * (n % 5) + 0.2 for n in range(40)]

    interval = paired(better, base)

    assert interval.low < interval.mean < interval.high
    assert interval.mean == pytest.approx(sum(better) / 40 - sum(base) / 40)
    assert paired(better, base) == interval


def test_a_gain_of_the_same_size_everywhere_has_no_width() -> None:
    interval = paired([0.6] * 20, [0.5] * 20)

    assert (interval.low, interval.high) == pytest.approx((0.1, 0.1))
