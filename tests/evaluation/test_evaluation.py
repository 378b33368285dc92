"""The evaluation: what it asks, how it judges what comes back, and what it reports."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.answers import judged, k_precision, summary
from evaluation.data import DataSet, Task
from evaluation.gate import figures
from evaluation.model import Model, local_client
from evaluation.own import read_own
from evaluation.recording import Recorder, Replay
from evaluation.report import tables, write_between
from evaluation.run import evaluate
from evaluation.search import Engine
from shared.runtime.errors import Permanent
from tests.support.evaluating import PASSAGES
from tests.support.factories import context as made_context
from tests.support.factories import rag_answer

HISTORY = (("user", "How do I configure the VPN?"), ("assistant", "You need the VPN client. [1]"))
NAMES = ("gemini-3.5-flash-lite", "gemini-3.5-flash")


def task(**fields: Any) -> Task:
    defaults: dict[str, Any] = {
        "id": "t", "kind": "ellipsis", "history": HISTORY, "question": "And on a Mac?",
        "gold": frozenset({"mac"}), "status": "answered", "gold_rewrite": "configure the VPN on a Mac",
    }  # fmt: skip
    return Task(**{**defaults, **fields})


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(PASSAGES)


@pytest.fixture(scope="module")
def local(engine: Engine) -> Model:
    return Model(local_client(engine.index), "the local model", *NAMES)


def report(engine: Engine, model: Model, *tasks: Task) -> dict[str, Any]:
    return evaluate(DataSet("made up", tasks, PASSAGES), engine, model, list, with_answers=True)


def test_passages_that_share_an_id_count_once() -> None:
    ranking = Engine((*PASSAGES, *PASSAGES)).ranking("configure the VPN")

    assert len(ranking) == len(set(ranking)) > 1


def test_the_rule_finds_a_follow_up_that_its_own_words_do_not(engine: Engine, local: Model) -> None:
    found = report(engine, local, task())["retrieval"]["all"]["ways"]

    assert found["salience"]["MRR@10"] == found["fallback"]["MRR@10"] == 1.0
    assert found["last turn"]["MRR@10"] < 1.0
    assert found["salience"]["nDCG@5 over last turn"]["mean"] > 0


def test_figures_repeat(engine: Engine, local: Model) -> None:
    tasks = (task(), task(id="u", question="What about the canteen?", gold=frozenset({"food"}), kind="shift"))

    assert report(engine, local, *tasks) == report(Engine(PASSAGES), local, *tasks)


def test_a_rewrite_that_came_with_the_data_is_the_one_that_is_measured(engine: Engine, local: Model) -> None:
    shares = report(engine, local, task(published="canteen noon"))["rewrites"]["rewrite"]

    assert (shares["changed"], shares["hurt"], shares["saved"]) == (1.0, 1.0, 0.0)


def test_groups_are_by_kind_language_and_turn(engine: Engine, local: Model) -> None:
    first = task(id="f", kind="first", history=(), question="VPNの設定", gold=frozenset({"vpn"}))

    groups = report(engine, local, task(), first)["retrieval"]

    counted = {name: group["questions"] for name, group in groups.items()}
    assert counted["all"] == 2
    assert {counted[name] for name in counted if name != "all"} == {1}
    assert {"first turns", "later turns", "kind: first", "language: ja", "language: en"} <= counted.keys()


def test_held_out_questions_are_counted_apart_and_not_watched(engine: Engine, local: Model) -> None:
    tuned, aside = task(), task(id="h", kind="shift", apart="held-out")

    both, alone = report(engine, local, tuned, aside), report(engine, local, tuned)

    assert both["retrieval"]["all"] == alone["retrieval"]["all"]
    assert both["retrieval"]["set: held-out, kind: shift"]["questions"] == 1
    assert both["rewrites"] == alone["rewrites"]
    assert both["answers"]["questions"] == both["answers"]["groups"]["set: held-out, all"]["questions"] == 1
    assert figures(both) == figures(alone)
    assert "| set: held-out, later turns (1) | fallback |" in tables(both)


def test_an_unanswerable_question_counts_when_it_is_refused(engine: Engine, local: Model) -> None:
    president = task(id="n", question="Who is president?", gold=frozenset(), status="unanswerable")

    answers = report(engine, local, task(), president)["answers"]

    assert (answers["answered recall"], answers["unanswerable recall"]) == (1.0, 1.0)
    assert (answers["citations valid"], answers["k-precision"]) == (1.0, 1.0)


def test_a_citation_of_a_source_that_was_not_given_is_not_valid() -> None:
    said = rag_answer("Install the client [1]. It is free [7].", (1,))

    assert judged(said, [made_context()], task()).valid_citations == pytest.approx(2 / 3)


def test_made_up_words_lower_the_k_precision_and_another_language_is_not_judged() -> None:
    sources = [made_context(text="Install the client from the catalogue.")]

    assert k_precision("Install the client [1].", sources) == 1.0
    assert k_precision("Buy the unicorn [1].", sources) == 0.0
    assert k_precision("クライアントを入れます。", sources) is None


def test_a_question_back_is_counted_where_one_is_due_and_where_none_is() -> None:
    back = rag_answer(status="needs_clarification", ask_back="Which approval do you mean?")
    refused = rag_answer(status="not_in_knowledge_base")
    unclear, clear = task(status="clarify", kind="underspecified"), task(question="Macの場合は？")

    found = summary([judged(said, [made_context()], t) for t in (unclear, clear) for said in (back, refused)])

    assert (found["asks back when unclear"], found["asks back needlessly"]) == (0.5, 0.5)
    assert (found["answerable refused"], found["answered recall"]) == (0.5, 0.0)
    assert found["groups"]["kind: underspecified"]["asks back when unclear"] == 0.5
    assert found["groups"]["language: ja"]["answerable refused"] == 0.5
    assert found["groups"]["language: ja"]["asks back when unclear"] is None


def test_what_was_recorded_is_scored_again_without_asking(engine: Engine, tmp_path: Path) -> None:
    with (tmp_path / "said.jsonl").open("w", encoding="utf-8") as file:
        recorded = report(engine, Model(Recorder(local_client(engine.index), file), "one", *NAMES), task())

    again = report(engine, Model(Replay(tmp_path / "said.jsonl"), "one", *NAMES), task())

    assert again == recorded
    assert again["answers"]["answered recall"] == 1.0


def test_what_was_not_recorded_is_not_made_up(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text("")
    model = Model(Replay(tmp_path / "said.jsonl"), "recorded", *NAMES)

    with pytest.raises(Permanent, match="Record again"):
        report(engine, model, task())


def test_tables_go_between_their_comments(engine: Engine, local: Model, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- figures -->\nstale\n<!-- end of figures -->\nafter\n")

    write_between(page, "figures", tables(report(engine, local, task())))

    text = page.read_text()
    assert text.startswith("before\n<!-- figures -->\n| questions ")
    assert "| kind: ellipsis (1) |" in text
    assert text.endswith("<!-- end of figures -->\nafter\n")
    assert "stale" not in text
    with pytest.raises(ValueError, match="no place"):
        write_between(page, "others", "")


def test_a_person_s_rewrite_finds_what_we_say_answers() -> None:
    data = read_own()
    engine = Engine(data.passages)
    asked = [t for t in data.tasks if t.gold and t.gold_rewrite]

    found = [t for t in asked if t.gold & set(engine.ranking(t.gold_rewrite or "")[:10])]

    assert len(found) >= 0.97 * len(asked)
