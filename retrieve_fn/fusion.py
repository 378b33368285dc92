"""Several rankings of the same things made into one: reciprocal rank fusion (Cormack et al., 2009)."""

from collections.abc import Iterable, Sequence

#: Dampens the first ranks, so that one query alone does not decide; the value of the method's authors.
DAMPING = 60
#: So many passages of each query are fused: more change nothing at the ranks that count.
DEPTH = 20


def fused(rankings: Iterable[Sequence[str]]) -> list[str]:
    """Each id once, by the sum of 1 / (60 + rank) over the rankings; ties as they were first seen."""
    scores = dict[str, float]()
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (DAMPING + rank)
    return sorted(scores, key=lambda item: -scores[item])
