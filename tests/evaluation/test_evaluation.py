"""The evaluation: what it reads, what it asks, what it reports, and when it fails."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evaluation.answers import judged, k_precision, summary
from evaluation.data import DataSet, Passage, Task, Unreadable, read
from evaluation.gate import fallen, figures
from evaluation.model import Model, local_client
from evaluation.own import HERE, KINDS, read_own
from evaluation.recording import Recorder, Replay
from evaluation.report import tables, write_between
from evaluation.run import evaluate
from evaluation.search import Engine
from shared.runtime.errors import Permanent
from tests.support.factories import context as made_context
from tests.support.factories import rag_answer

ROOT = HERE.parent.parent
PASSAGES = (
    Passage("vpn", "VPN", "The VPN client connects a laptop. Configure the VPN in the catalogue.", "VPN"),
    Passage(
        "mac", "VPN", "To configure the VPN on a Mac, allow the extension of the VPN client first.", "VPN"
    ),
    Passage("door", "Doors", "On a Mac, doors open with the Mac app.", "Doors"),
    Passage("food", "Canteen", "The canteen is open from noon. A Mac cheese is served daily.", "Canteen"),
)
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


def written(folder: Path, name: str, lines: list[dict[str, Any]]) -> None:
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Data as the public sets have it."""
    passages = [{"id": p.id, "title": p.title, "text": p.text} for p in PASSAGES]
    written(tmp_path, "passages", passages)
    asked = {"id": "1", "turn": 2, "history": [["user", "VPN?"], ["agent", "Yes."]], "question": "on a Mac?"}
    told = {
        "gold": ["mac"],
        "rewrite": "VPN on a Mac?",
        "answerability": "PARTIAL",
        "multi_turn": "Follow-up",
    }
    none: dict[str, Any] = {
        "gold": [],
        "rewrite": None,
        "answerability": "UNANSWERABLE",
        "multi_turn": "N/A",
        "history": [],
    }
    written(tmp_path, "tasks", [{**asked, **told}, {**asked, **none, "id": "2"}])
    return tmp_path


def test_tasks_bring_a_model_s_rewrite_and_what_can_be_answered(folder: Path) -> None:
    first, second = read(folder).tasks

    assert (first.kind, first.status, first.published) == ("follow-up", "answered", "VPN on a Mac?")
    assert first.history == (("user", "VPN?"), ("assistant", "Yes."))
    assert (second.kind, second.status, second.published) == ("first", "unanswerable", second.question)


def test_queries_bring_a_person_s_rewrite(folder: Path) -> None:
    (folder / "tasks.jsonl.gz").unlink()
    line = {"id": "1", "kind": "shift", "history": [], "question": "q", "rewrite": "r", "gold": ["mac"]}
    written(folder, "queries", [line])

    (only,) = read(folder).tasks
    assert (only.kind, only.published, only.gold_rewrite) == ("shift", None, "r")


@pytest.mark.parametrize("missing", ["tasks", "passages"])
def test_a_folder_in_another_format_is_refused_in_words(folder: Path, missing: str) -> None:
    (folder / f"{missing}.jsonl.gz").unlink()

    with pytest.raises(Unreadable, match=r"jsonl\.gz"):
        read(folder)


WHOLE = b'{"id": "a", "text": "t"}\n'


@pytest.mark.parametrize(
    "content, told",
    [
        (b"not gzip", r"passages\.jsonl\.gz is not in the expected format"),
        (gzip.compress(WHOLE * 999)[:-20], r"not in the expected format"),
        (gzip.compress(WHOLE + b'{"id": "b"'), r"passages\.jsonl\.gz, line 2 is not in the expected format"),
        (gzip.compress(WHOLE + b"\xff\n"), r"not in the expected format"),
        (gzip.compress(WHOLE + b"[]\n"), r"line 2 is not in the expected format"),
        (gzip.compress(WHOLE + b'{"id": "b"}\n'), r"line 2: the field 'text' is missing"),
        (gzip.compress(WHOLE + b'{"id": "b", "text": 1}\n'), r"line 2 .*'text' is no text"),
        (gzip.compress(b"\n"), r"no passages"),
    ],
    ids=["no gzip", "cut off", "no JSON", "no UTF-8", "no object", "field missing", "wrong type", "empty"],
)
def test_a_broken_file_is_refused_with_the_line_that_is_wrong(
    folder: Path, content: bytes, told: str
) -> None:
    (folder / "passages.jsonl.gz").write_bytes(content)

    with pytest.raises(Unreadable, match=told):
        read(folder)


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"gold": "mac"}, r"line 1 .*'gold' is no list of ids"),
        ({"gold": [1]}, r"line 1 .*'gold' is no list of ids"),
        ({"gold": None}, r"line 1 .*'gold' is no list of ids"),
        ({"question": " "}, r"line 1 .*the question is empty"),
        ({"question": "\ud800"}, r"line 1 .*surrogates not allowed"),
        ({"history": [["user"]]}, r"line 1 "),
    ],
    ids=["gold a text", "gold a number", "gold null", "nothing asked", "half a character", "half a turn"],
)
@pytest.mark.parametrize("name", ["tasks", "queries"])
def test_a_question_that_cannot_be_measured_is_refused(
    folder: Path, name: str, wrong: dict[str, Any], told: str
) -> None:
    (folder / "tasks.jsonl.gz").unlink()
    written(folder, name, [{"id": "1", "kind": "k", "history": [], "question": "q", "gold": ["mac"]} | wrong])

    with pytest.raises(Unreadable, match=told):
        read(folder)


def test_passages_that_share_an_id_count_once() -> None:
    ranking = Engine((*PASSAGES, *PASSAGES)).ranking("configure the VPN")

    assert len(ranking) == len(set(ranking)) > 1


def test_fields_that_are_not_known_are_passed_over(folder: Path) -> None:
    written(folder, "passages", [{"id": "mac", "text": "t", "domain": "x", "score": [1]}])

    assert [passage.id for passage in read(folder).passages] == ["mac"]


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


def test_the_gate_names_what_fell_and_lets_pass_what_rose() -> None:
    recorded = {"recall": 0.9, "nDCG": 0.8, "answers, answerable refused": 0.02, "gone": 0.5}
    now = {"recall": 0.95, "nDCG": 0.7, "answers, answerable refused": 0.05}

    assert [line.split(":")[0] for line in fallen(now, recorded)] == [
        "nDCG",
        "answers, answerable refused",
        "gone",
    ]


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


def test_our_own_set_is_of_both_languages_and_every_kind() -> None:
    tasks = read_own().tasks
    conversations = {t.id.split("#")[0] for t in tasks}

    assert len(conversations) >= 60
    assert {t.kind for t in tasks} == set(KINDS)
    assert len(conversations) == len([t for t in tasks if t.id.endswith("#1")])
    assert min(Counter(t.language for t in tasks).values()) >= 80
    assert {(t.apart, t.id.split("-")[0]) for t in tasks if t.apart} == {
        ("chat", "chat"),
        ("held-out", "heldout"),
    }


def test_a_quote_that_is_in_no_passage_is_refused(tmp_path: Path) -> None:
    turn = '{ q = "VPN?", kind = "first", file = "en/vpn-setup.md", quote = "The moon is a cheese." }'
    (tmp_path / "one.toml").write_text(f'[[conversation]]\nid = "one"\nturns = [{turn}]\n')

    with pytest.raises(Unreadable, match="one#1: the quote is in 0 passages"):
        read_own(tmp_path)


def test_a_person_s_rewrite_finds_what_we_say_answers() -> None:
    data = read_own()
    engine = Engine(data.passages)
    asked = [t for t in data.tasks if t.gold and t.gold_rewrite]

    found = [t for t in asked if t.gold & set(engine.ranking(t.gold_rewrite or "")[:10])]

    assert len(found) >= 0.97 * len(asked)


@pytest.mark.slow
def test_the_command_writes_json_and_the_gate_fails_on_a_higher_record(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "recorded.json").write_text('{"all, salience, nDCG@5": 1.5}')
    command = [
        sys.executable,
        "-m",
        "evaluation",
        "--data",
        str(folder),
        "--json",
        str(tmp_path / "out.json"),
    ]

    passed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    failed = subprocess.run(
        [*command, "--gate", str(tmp_path / "recorded.json")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (passed.returncode, failed.returncode) == (0, 1)
    assert "all, salience, nDCG@5: 1.500 before" in failed.stderr
    assert json.loads((tmp_path / "out.json").read_text())["tasks"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--data", "/nowhere"], ["--online"], ["--replay", "/nowhere"]])
def test_what_cannot_be_used_is_said_in_one_line(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evaluation", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
