"""Chaos on Google's Pub/Sub and Firestore emulators, where they are installed."""

from itertools import islice
from pathlib import Path

import pytest

from chaos.storm import BESIDE_EMULATORS, schedule
from local.runner.emulators import missing
from shared.pipeline import pipeline
from tests.support.chaos_run import chaos

MISSING = missing("pubsub") or missing("firestore")


def test_beside_the_emulators_only_the_functions_and_our_own_stand_ins_are_struck() -> None:
    struck = {blow.name.partition("-")[0] for blow in islice(schedule(1, BESIDE_EMULATORS), 100)}

    assert struck == {"chat", "gemini", "rag", *(step.name for step in pipeline().functions)}


@pytest.mark.slow
def test_without_the_emulators_it_says_what_is_missing_and_asks_nothing(tmp_path: Path) -> None:
    run = chaos("--emulators", path=str(tmp_path))

    assert run.returncode == 2
    assert "no java on the PATH" in run.stderr


@pytest.mark.slow
@pytest.mark.emulator
@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
@pytest.mark.timeout(300)
def test_a_short_run_on_the_emulators_loses_and_doubles_nothing() -> None:
    run = chaos("--emulators", "--questions", "10", "--threads", "5", "--seed", "4")

    assert run.returncode == 0, run.stdout + run.stderr
