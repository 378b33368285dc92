"""What is searched for, and how what several queries have found is made one. Figures: `docs/quality.md`.

Keywords lift a search by words and hurt a search by embeddings, so they go to the former alone.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from shared.language.follow_ups import stands_alone
from shared.language.keywords import by_rule, with_keywords_of
from shared.messages.envelope import Envelope
from shared.runtime.errors import Permanent

#: What the corpus is searched by: embeddings, words, or both with one text.
SearchKind = Literal["dense", "hybrid", "lexical"]
#: Dampens the first ranks, so that one query alone does not decide; the value of the method's authors.
DAMPING = 60
#: So many passages of each query are fused: more change nothing at the ranks that count.
DEPTH = 20


def queries(envelope: Envelope, kind: SearchKind, *, fusion: bool) -> tuple[str, ...]:
    """The queries for a question, the most trusted first, each once.

    Without `fusion` it is one: the sentence of the rewrite, with keywords where words alone are compared. A
    question that the rewrite left as it is stands alone, and one that it only added to has its keywords
    already: neither gets any, nor does one that is to be taken literally. With `fusion` the question with its
    keywords is a second query, whatever the rewrite says: it mends what the first one misses.
    Raises Permanent for an envelope without a search query.
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
    """Several rankings of the same ids made into one: reciprocal rank fusion (Cormack et al., 2009).

    Each id once, by the sum of 1 / (60 + rank) over the rankings; ties as they were first seen.
    """
    scores = dict[str, float]()
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (DAMPING + rank)
    return sorted(scores, key=lambda item: -scores[item])
