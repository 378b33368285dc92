"""Imports go one way: the contracts are in pyproject.toml."""

import os

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from tests import ROOT


def test_imports_go_one_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(os.fspath(ROOT))

    status = lint_imports(config_filename=os.fspath(ROOT / "pyproject.toml"), no_cache=True)

    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out
