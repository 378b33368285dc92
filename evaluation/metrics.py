"""Retrieval metrics as trec_eval defines them, for binary relevance, and paired bootstrap intervals.

A ranking is a list of ids, best first, each once. `tests/evaluation/test_metrics.py` compares with trec_eval.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SAMPLES = 10_000
PARTS = 20
SEED = 7
#: Percent of the bootstrap samples that lie inside an interval.
CONFIDENCE = 95


def recall(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """The share of all relevant ids that are among the first `depth`."""
    return len(set(ranking[:depth]) & set(relevant)) / len(relevant)


def ndcg(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Discounted gain of the first `depth`, divided by the best possible gain."""
    gain = sum(_discount(place) for place, id in enumerate(ranking[:depth]) if id in relevant)
    return gain / sum(map(_discount, range(min(depth, len(relevant)))))


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """1 / place of the first relevant id; 0 if none is among the first `depth`."""
    return next((1 / place for place, id in enumerate(ranking[:depth], start=1) if id in relevant), 0.0)


@dataclass(frozen=True)
class Interval:
    """A mean, and the bounds that 95 % of the bootstrap means lie between."""

    mean: float
    low: float
    high: float


def paired(better: Sequence[float], base: Sequence[float]) -> Interval:
    """The mean difference of `better` per question. The same numbers always give the same interval."""
    return interval(np.asarray(better) - np.asarray(base))


def interval(values: Sequence[float] | FloatArray) -> Interval:
    """The mean of one or more values. The same numbers always give the same interval."""
    drawn, random = np.asarray(values), np.random.default_rng(SEED)
    means = [  # by parts, as all samples of thousands of questions at once do not fit into a small memory
        drawn[random.integers(0, len(drawn), (SAMPLES // PARTS, len(drawn)))].mean(axis=1)
        for _ in range(PARTS)
    ]
    outside = (100 - CONFIDENCE) / 2
    low, high = np.percentile(np.concatenate(means), [outside, 100 - outside])
    return Interval(float(drawn.mean()), float(low), float(high))


def _discount(place: int) -> float:
    return 1 / math.log2(place + 2)
