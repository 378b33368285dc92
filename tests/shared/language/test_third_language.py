"""A third language is one file: with a French catalogue in place all that the bot does is done in French, and
what it does in English and Japanese stays the same."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

FRENCH = Path(__file__).with_name("french")
HERE = "tests/shared/language"
CONVERSATION, RULES = f"{HERE}/french/conversation.py", f"{HERE}/french/rules.py"
OTHERS = (
    *sorted(f"{HERE}/{path.name}" for path in Path(__file__).parent.glob("test_*.py")),
    "tests/reformulate_fn",
)
#: Tests that name the languages there are, or take French for one that is not spoken, or start this again.
NOT_THERE = (
    f"--ignore={HERE}/test_third_language.py",
    f"--deselect={HERE}/test_texts.py::test_english_and_japanese_are_spoken",
    f"--deselect={HERE}/test_texts.py::test_the_locale_decides_and_else_the_script",
    f"--deselect={HERE}/test_languages.py::test_english_comes_first_of_all_languages",
)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code with one more catalogue, and with one article to answer from."""
    copy = tmp_path_factory.mktemp("french") / "house"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "terraform"))
    shutil.copy(FRENCH / "fr.toml", copy / "shared/language/catalogues")
    (copy / "knowledge/fr").mkdir()
    shutil.copy(FRENCH / "imprimante.md", copy / "knowledge/fr")
    return copy


@pytest.fixture(scope="module")
def ran(house: Path) -> str:
    """What pytest says there, a line for each test; one process, because its start takes seconds."""
    command = [sys.executable, "-m", "pytest", "-v", "--color=no", "-p", "no:cacheprovider", "-m", "not slow"]
    command += [CONVERSATION, RULES, *OTHERS, *NOT_THERE]
    done = subprocess.run(command, cwd=house, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stdout[-8000:] + done.stderr[-2000:]
    return done.stdout


def pass_in(ran: str, *tests: str) -> bool:
    """Whether the tests of each of these files or folders passed, and there were some."""
    lines = [line for line in ran.splitlines() if re.search(r"::.* (PASSED|FAILED|ERROR) ", line)]
    ends = [[" PASSED " in line for line in lines if line.startswith(each)] for each in tests]
    return all(one and all(one) for one in ends)


@pytest.mark.slow
def test_a_conversation_in_french_goes_the_whole_way(ran: str) -> None:
    assert pass_in(ran, CONVERSATION), ran[-8000:]


@pytest.mark.slow
def test_every_rule_of_language_holds_in_french(ran: str) -> None:
    assert pass_in(ran, RULES), ran[-8000:]


@pytest.mark.slow
def test_beside_french_nothing_changes_in_english_and_japanese(ran: str) -> None:
    assert pass_in(ran, f"{HERE}/test_", "tests/reformulate_fn"), ran[-8000:]
