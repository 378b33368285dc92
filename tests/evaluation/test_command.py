"""The command of the evaluation: when it fails, and what it says then."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.gate import fallen
from tests import ROOT

pytest_plugins = ["tests.support.evaluating"]


def test_the_gate_names_what_fell_and_lets_pass_what_rose() -> None:
    recorded = {"recall": 0.9, "nDCG": 0.8, "answers, answerable refused": 0.02, "gone": 0.5}
    now = {"recall": 0.95, "nDCG": 0.7, "answers, answerable refused": 0.05}

    assert [line.split(":")[0] for line in fallen(now, recorded)] == [
        "nDCG",
        "answers, answerable refused",
        "gone",
    ]


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
