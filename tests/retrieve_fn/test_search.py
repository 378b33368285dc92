"""Searching: which queries are sent to which engine, how they are fused, and how much is passed on."""

import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from google.api_core.exceptions import InvalidArgument, ServiceUnavailable

from retrieve_fn.budget import tokens, within
from retrieve_fn.queries import DEPTH, SearchKind, fused, queries
from retrieve_fn.search import Corpus, search
from shared.messages.envelope import Envelope
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient
from tests.support.factories import context, envelope, question, turn

VPN = (
    turn("user", "How do I configure the VPN on Windows?"),
    turn("assistant", "Install StarGate for the VPN."),
)
REWRITE = "How do I configure it on a Mac?"
BY_RULE = "And on a Mac? (VPN, Windows, configure, StarGate)"
WITH_KEYWORDS = f"{REWRITE} (VPN, Windows, StarGate)"
CORPUS = Corpus("projects/p/locations/l/ragCorpora/1", 6, None, None, {})


def follow_up(rewrite: str | None = REWRITE, text: str = "And on a Mac?", **fields: Any) -> Envelope:
    return envelope(**{"question": question(text=text), "history": VPN, "search_query": rewrite, **fields})


@pytest.mark.parametrize(
    "kind, fusion, sent",
    [
        ("dense", False, (REWRITE,)),
        ("hybrid", False, (REWRITE,)),
        ("lexical", False, (WITH_KEYWORDS,)),
        ("dense", True, (REWRITE, BY_RULE)),
        ("hybrid", True, (REWRITE, BY_RULE)),
        ("lexical", True, (WITH_KEYWORDS, BY_RULE)),
    ],
)
def test_keywords_are_for_engines_that_compare_words(
    kind: SearchKind, fusion: bool, sent: tuple[str, ...]
) -> None:
    assert queries(follow_up(), kind, fusion=fusion) == sent


@pytest.mark.parametrize("fusion", [False, True])
@pytest.mark.parametrize(
    "given, sent",
    [
        (follow_up("VPN?", "VPN?", history=()), "VPN?"),
        (follow_up("Thanks!", "Thanks!"), "Thanks!"),
        (follow_up(BY_RULE), BY_RULE),
    ],
    ids=["first question", "small talk", "the rewrite is by rule already"],
)
def test_one_query_is_enough_where_there_is_nothing_to_add(given: Envelope, sent: str, fusion: bool) -> None:
    assert queries(given, "lexical", fusion=fusion) == (sent,)


def test_a_question_that_the_rewrite_left_as_it_is_gets_no_keywords() -> None:
    text = "Where is the canteen?"

    assert queries(follow_up(text, text), "lexical", fusion=False) == (text,)


def test_a_rewrite_that_only_adds_to_the_question_gets_no_keywords_twice() -> None:
    assert queries(follow_up("And on a Mac? (VPN)"), "lexical", fusion=False) == ("And on a Mac? (VPN)",)


def test_keywords_that_the_rewrite_holds_are_not_said_twice() -> None:
    rewrite = "How do I configure the VPN on a Mac?"

    assert queries(follow_up(rewrite), "lexical", fusion=False) == (f"{rewrite} (Windows, StarGate)",)


def test_fusion_prefers_what_several_rankings_hold_and_keeps_ties_in_order() -> None:
    assert fused([["a", "b", "c"], ["d", "b"]]) == ["b", "a", "d", "c"]


@dataclass
class Rag:
    """An engine that answers each query as told: with texts, an error, or when it is let go."""

    answers: dict[str, Any]
    asked: list[Any] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)

    def retrieve_contexts(self, *, request: Any, retry: None, timeout: float) -> Any:
        self.asked.append(request)
        answer = self.answers[request.query.text]
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            self.let_go.wait(timeout)
            raise ServiceUnavailable("late")
        found = [
            SimpleNamespace(source_uri=f"gs://kb/{text}", source_display_name=text, text=text, score=score)
            for text, score in answer
        ]
        return SimpleNamespace(contexts=SimpleNamespace(contexts=found))


def found(rag: Rag, corpus: Corpus = CORPUS, seconds: float = 5) -> list[str]:
    return [one.text for one in search(list(rag.answers), corpus, rag, Deadline(seconds))]


def test_what_several_queries_find_is_fused_and_each_passage_comes_once() -> None:
    rag = Rag({"a": [("one", 0.1), ("two", 0.2)], "b": [("three", 0.1), ("two", 0.3)]})

    assert found(rag) == ["two", "one", "three"]
    assert {request.query.rag_retrieval_config.top_k for request in rag.asked} == {DEPTH}


def test_fused_or_not_no_more_comes_back_than_was_asked_for() -> None:
    passages = [(str(number), number / 100) for number in range(DEPTH)]

    assert found(Rag({"a": passages, "b": passages})) == ["0", "1", "2", "3", "4", "5"]


def test_the_queries_are_asked_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=5)

    class Meeting(Rag):
        def retrieve_contexts(self, **asked: Any) -> Any:
            together.wait()
            return super().retrieve_contexts(**asked)

    assert found(Meeting({"a": [("one", 0.1)], "b": [("one", 0.2)]})) == ["one"]


@pytest.mark.parametrize("failing", ["a", "b"])
def test_a_query_that_fails_leaves_what_the_others_find(failing: str) -> None:
    answers = {"a": [("one", 0.1)], "b": [("two", 0.1)]}

    assert found(Rag({**answers, failing: InvalidArgument("no")})) == ["two" if failing == "a" else "one"]


@pytest.mark.parametrize("slow", ["a", "b"])
def test_a_query_that_is_slow_is_not_waited_for(slow: str) -> None:
    answers: dict[str, Any] = {"a": [("one", 0.1)], "b": [("two", 0.1)]}
    rag = Rag({**answers, slow: None})

    passed_on = search(["a", "b"], CORPUS, rag, Deadline(60), patience=0.05)
    rag.let_go.set()

    assert [one.text for one in passed_on] == ["two" if slow == "a" else "one"]


@pytest.mark.parametrize(
    "trouble, kind", [(InvalidArgument("no"), Permanent), (ServiceUnavailable("down"), Transient)]
)
def test_when_no_query_could_be_asked_the_step_has_failed(trouble: Exception, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        found(Rag({"a": trouble, "b": trouble}), seconds=0.5)


def test_without_a_ranker_the_nearest_comes_first_and_none_is_asked_for() -> None:
    rag = Rag({"a": [("far", 0.9), ("near", 0.1)]})

    assert found(rag) == ["near", "far"]
    assert "ranking" not in rag.asked[0].query.rag_retrieval_config


def test_with_a_ranker_its_order_stays() -> None:
    ranked = Corpus(CORPUS.name, 6, None, "semantic-ranker-default@latest", {})
    rag = Rag({"a": [("far", 0.9), ("near", 0.1)]})

    assert found(rag, ranked) == ["far", "near"]
    ranking = rag.asked[0].query.rag_retrieval_config.ranking
    assert ranking.rank_service.model_name == "semantic-ranker-default@latest"


@pytest.mark.parametrize(
    "text, most", [("", 0), ("abc", 1), ("abcd", 2), ("社内", 2), ("VPNの設定", 4), ("a" * 300, 100)]
)
def test_tokens_are_counted_on_the_safe_side(text: str, most: int) -> None:
    assert tokens(text) == most


def of_tokens(*sizes: int) -> list[Any]:
    return [context(id=str(n), title="", text="あ" * size) for n, size in enumerate(sizes)]


@pytest.mark.parametrize(
    "sizes, kept",
    [((40, 40, 40), [40, 40]), ((60, 50, 40), [60, 40]), ((150, 10), [100]), ((), []), ((100,), [100])],
)
def test_the_best_passages_that_fit_into_the_budget_are_passed_on(
    sizes: tuple[int, ...], kept: list[int]
) -> None:
    assert [len(one.text) for one in within(of_tokens(*sizes), 100)] == kept
