"""A third language is one file: with a French catalogue in place all that the bot does is done in French, and
what it does in English and Japanese stays the same."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

FRENCH = Path(__file__).with_name("french")
HERE = "tests/shared/language"
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


def passes(house: Path, *tests: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    ran = subprocess.run(command, cwd=house, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]


@pytest.mark.slow
def test_a_conversation_in_french_goes_the_whole_way(house: Path) -> None:
    passes(house, f"{HERE}/french/conversation.py")


@pytest.mark.slow
def test_every_rule_of_language_holds_in_french(house: Path) -> None:
    passes(house, f"{HERE}/french/rules.py")


@pytest.mark.slow
def test_beside_french_nothing_changes_in_english_and_japanese(house: Path) -> None:
    passes(house, HERE, "tests/reformulate_fn", "-m", "not slow", *NOT_THERE)
