"""Imports go one way: the contracts are in pyproject.toml."""

import subprocess
import sys
import tomllib
from typing import Any

from shared.pipeline import pipeline
from tests import ROOT

FOLDERS = set(pipeline().folders)


def _contracts() -> dict[str, Any]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: dict[str, Any] = settings["tool"]["importlinter"]
    return contracts


def test_imports_go_one_way() -> None:
    # In a process of its own: import-linter disables the loggers that are there.
    lint = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    run = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr


def test_the_contracts_hold_every_function_of_the_pipeline() -> None:
    assert set(_contracts()["root_packages"]) >= FOLDERS
    rules = {rule["name"]: rule for rule in _contracts()["contracts"]}
    above = rules["The product imports no tool that stands above it"]
    events = rules["Chat's events stay out of the steps between the first and the last"]
    # Chat's events are for the step that takes them and for who reads dead letters.
    without = FOLDERS - {pipeline().first.folder, pipeline().teller.folder}

    assert set(rules["Functions never import each other"]["modules"]) == FOLDERS
    assert set(above["source_modules"]) == {"shared", *FOLDERS}
    assert set(events["source_modules"]) == without
