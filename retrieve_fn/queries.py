"""Chooses the queries, and fuses the results of several queries. Figures: `docs/quality.md`.

Keywords improve a search by words and harm a search by embeddings, so only a search by words gets them.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from shared.language.follow_ups import stands_alone
from shared.language.keywords import by_rule, with_keywords_of
from shared.messages.envelope import Envelope
from shared.runtime.errors import Permanent

#: The kind of search: by embeddings, by words, or by both with one text.
SearchKind = Literal["dense", "hybrid", "lexical"]
#: The constant of reciprocal rank fusion; the value that its authors use. It reduces the weight of the first
#: ranks, so that one query alone does not decide.
DAMPING = 60
#: How many passages of each query are fused. More would not change the first ranks.
DEPTH = 20


def queries(envelope: Envelope, kind: SearchKind, *, fusion: bool) -> tuple[str, ...]:
    """The queries for a question, without duplicates, the most trusted first.

    Without `fusion` there is one query: the rewrite. For a lexical search, keywords are added to it, unless
    the rewrite begins with the question: then it stands alone or has its keywords already. A question that
    stands alone gets no keywords either. With `fusion` a second query is the question with its keywords. It
    finds passages that the rewrite misses. Raises Permanent for an envelope without a search query.
    """
    sentence = envelope.search_query
    if sentence is None:
        raise Permanent("envelope_incomplete", "no search_query")
    if stands_alone(envelope):
        return (sentence,)
    question = " ".join(envelope.question.text.split())
    if kind == "lexical" and not sentence.startswith(question):
        sentence = with_keywords_of(envelope, sentence)
    return tuple(dict.fromkeys((sentence, by_rule(envelope)))) if fusion else (sentence,)


def fused(rankings: Iterable[Sequence[str]]) -> list[str]:
    """Several rankings of ids fused into one by reciprocal rank fusion (Cormack et al., 2009).

    Each id appears once. The ids are sorted by the sum of 1 / (60 + rank) over the rankings. Ids with the
    same sum keep the order in which they were first seen.
    """
    scores = dict[str, float]()
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (DAMPING + rank)
    return sorted(scores, key=lambda item: -scores[item])
