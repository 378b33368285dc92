"""People's rewrites without passages: what is read, what is counted, and what is said of what cannot be."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.data import Unreadable, read
from evaluation.metrics import SAMPLES, SEED, interval
from evaluation.report import tables
from evaluation.rewrites import evaluate
from tests import ROOT

HEADING = ["Blue Otter", "Tunnels"]
ASKED = [*HEADING, "Who dug the tunnels?", "Miners of Zurbach did."]
LINES = [
    # The rule adds "Otter" and "Blue", as the person did.
    {"History": HEADING, "Question": "Who dug the tunnels?", "Rewrite": "Who dug the Blue Otter's tunnels?"},
    # It adds "Tunnels" and "Otter": one of five words. "hire" and "marzipan" were never said.
    {
        "History": ASKED,
        "Question": "When did they?",
        "Rewrite": "When did the Blue Otter hire miners for marzipan?",
    },
    # Left as they were, capitals and spaces aside: to the first the rule adds words all the same.
    {"History": ASKED, "Question": "what is marzipan?", "Rewrite": "What is marzipan ?"},
    {"History": ASKED, "Question": "Thanks!", "Rewrite": "Thanks!"},
    {"History": ASKED, "Question": "Is it E203?", "Rewrite": "Is it?"},
]


def written(folder: Path, *lines: dict[str, Any], name: str = "some-half") -> Path:
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return folder


@pytest.fixture
def report(tmp_path: Path) -> dict[str, Any]:
    return evaluate(read(written(tmp_path, *LINES)), list)


def test_a_rewrite_that_the_guard_refuses_is_counted_with_the_reason(report: dict[str, Any]) -> None:
    found = report["people"]["all"]

    assert (found["questions"], found["refused"], found["faults"]) == (5, 1, {"lost_entity": 1})


def test_the_rule_s_words_are_held_against_those_that_a_person_added(report: dict[str, Any]) -> None:
    found = report["people"]["all"]

    assert (found["recall"]["questions"], found["recall"]["mean"]) == (2, pytest.approx((1 + 1 / 5) / 2))
    assert found["said before"]["mean"] == pytest.approx((1 + 3 / 5) / 2)
    # Of every question to which the rule adds words, and so not of thanks.
    assert (found["precision"]["questions"], found["precision"]["mean"]) == (4, (1 + 1 / 2) / 4)
    assert (found["recall"]["low"], found["recall"]["high"]) == (pytest.approx(1 / 5), 1)


def test_of_what_was_left_unchanged_it_is_counted_where_the_rule_adds_nothing(report: dict[str, Any]) -> None:
    found = report["people"]["all"]["unchanged stand alone"]

    assert (found["questions"], found["mean"]) == (2, 0.5)


def test_the_first_question_has_the_title_and_the_section_before_it(report: dict[str, Any]) -> None:
    first = report["people"]["first questions"]

    assert (first["questions"], first["recall"]["mean"], first["unchanged stand alone"]) == (1, 1.0, None)
    assert report["people"]["later questions"]["questions"] == 4


def test_the_table_has_a_line_for_each_group_with_intervals(report: dict[str, Any]) -> None:
    head, _, *lines = tables(report).strip().splitlines()

    assert [line.split(" | ")[:2] for line in lines] == [
        ["| all (5)", "1 (1 lost_entity)"],
        ["| first questions (1)", "0"],
        ["| later questions (4)", "1 (1 lost_entity)"],
    ]
    assert "0.375 [" in lines[0]
    assert "| – |" in lines[1]
    assert {line.count("|") for line in lines} == {head.count("|")}


GOOD = {"History": HEADING, "Question": "Who?", "Rewrite": "Who?"}


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"History": "Blue Otter"}, r"line 2 .*'History' is no list of texts"),
        ({"History": [["user", "Who?"]]}, r"line 2 .*'History' is no list of texts"),
        ({"History": ["\ud800"]}, r"line 2 .*surrogates not allowed"),
        ({"Question": " "}, r"line 2 .*the question is empty"),
        ({"Rewrite": ""}, r"line 2 .*the rewrite is empty"),
        ({"Rewrite": None}, r"line 2 .*'Rewrite' is no text"),
    ],
    ids=["a text", "pairs", "half a character", "nothing asked", "not rewritten", "null"],
)
def test_a_line_that_cannot_be_measured_is_named(tmp_path: Path, wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(Unreadable, match=rf"some-half\.jsonl\.gz, {told}"):
        read(written(tmp_path, GOOD, GOOD | wrong))


def test_fields_are_needed_and_others_are_passed_over(tmp_path: Path) -> None:
    assert len(read(written(tmp_path, GOOD | {"Question_no": 1, "QuAC_dialog_id": "C_1"})).tasks) == 1

    for field in GOOD:
        with pytest.raises(Unreadable, match=f"line 1: the field '{field}' is missing"):
            read(written(tmp_path, {name: GOOD[name] for name in GOOD if name != field}))


@pytest.mark.parametrize("names", [(), ("dev", "test"), ("passages",), ("dev", "passages")])
def test_a_folder_must_have_one_file_of_rewrites_alone(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        written(tmp_path, GOOD, name=name)

    with pytest.raises(Unreadable, match=r"neither tasks.jsonl.gz nor .* just one \*\.jsonl\.gz"):
        read(tmp_path)


def test_a_file_without_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"no questions in .*some-half"):
        read(written(tmp_path))


def test_an_interval_of_thousands_of_values_is_that_of_all_samples_at_once() -> None:
    values = np.random.default_rng(1).random(300)
    drawn = values[np.random.default_rng(SEED).integers(0, 300, (SAMPLES, 300))].mean(axis=1)

    found = interval(values)

    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))


@pytest.mark.slow
def test_the_command_prints_the_table_writes_json_and_refuses_the_gate(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evaluation", "--data", str(written(tmp_path, *LINES))]
    out, gate = tmp_path / "out.json", tmp_path / "recorded.json"
    gate.write_text("{}")

    done, refused = (
        subprocess.run([*command, *more], cwd=ROOT, capture_output=True, text=True, check=False)
        for more in (("--json", str(out)), ("--gate", str(gate)))
    )

    assert (done.returncode, refused.returncode) == (0, 2)
    assert "people's" in done.stdout
    assert "Measuring" in done.stderr
    assert json.loads(out.read_text())["people"]["all"]["questions"] == len(LINES)
    assert "only people's rewrites" in refused.stderr
    assert "Traceback" not in refused.stderr
