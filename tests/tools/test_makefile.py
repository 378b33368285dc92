"""`make` and the checks behind `make test`."""

import os
import re
import subprocess

import pytest

from tools import check


def test_make_alone_lists_every_target() -> None:
    makefile = (check.ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony
    # As typed by a person, also when this test itself was started by make.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    listed = subprocess.run(
        ["make"], cwd=check.ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert [line.split()[1] for line in listed.splitlines()] == phony[1].split()


def test_a_check_that_fails_does_not_hide_the_next() -> None:
    checks = (("json.tool", "absent-1"), ("json.tool", "--help"), ("json.tool", "absent-2"))
    assert check.failures(checks) == ["json.tool absent-1", "json.tool absent-2"]


def test_a_check_beside_the_others_is_heard_after_them(capfd: pytest.CaptureFixture[str]) -> None:
    failed = check.failures((("json.tool", "absent-1"),), beside=(("json.tool", "absent-2"), ("this",)))

    said = capfd.readouterr().out
    assert failed == ["json.tool absent-1", "json.tool absent-2"]
    assert said.index("absent-1: FAILED") < said.index("absent-2: FAILED") < said.index("The Zen of Python")
