"""A catalogue that is not complete is refused, by a text that names each key."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared.language.catalogue import Catalogue, catalogue, grammar, languages
from shared.language.courtesies import confirms, is_small_talk
from shared.language.pointing import pointed_out
from tests import ROOT

CATALOGUES = "shared/language/catalogues"
READ = "from shared.language.catalogue import check_catalogues; check_catalogues()"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the functions' code."""
    house = tmp_path_factory.mktemp("house")
    for package in ("shared", "ingest_fn", "retrieve_fn", "answer_fn"):
        shutil.copytree(ROOT / package, house / package, ignore=shutil.ignore_patterns("__pycache__"))
    return house


def run(house: Path, code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=house, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("language", languages())
def test_every_catalogue_is_complete(language: str) -> None:
    assert isinstance(catalogue(language), Catalogue)


@pytest.mark.parametrize(
    "line, instead, key",
    [
        ('up = "役に立った"', "", "button.up: missing"),
        ('up = "役に立った"', 'up = "役に立った"\ndown2 = "？"', "button.down2: surplus"),
        ('up = "役に立った"', 'up = " "', "button.up: not a text"),
        ('seconds = "{seconds}秒"', 'seconds = "秒"', "progress.seconds: must have the placeholders"),
        ('yes = "はい"', "", "language.yes: Field required"),
        ('yes = "はい"', 'yess = "はい"', "language.yess: Extra inputs are not permitted"),
        ('last = "最後"', "", "language.pointing.last: Field required"),
        ('query = "{question}（{words}）"', 'query = "{question}"', "language.query: "),
        ('label = "書き換え', 'label = "(書き換え', "language.label: Value error, not a regular expression"),
        ("[button]", "[button", "ja.toml: "),
    ],
)
@pytest.mark.slow
def test_what_is_wrong_with_a_catalogue_is_named_before_anything_starts(
    copied: Path, line: str, instead: str, key: str
) -> None:
    japanese = (ROOT / CATALOGUES / "ja.toml").read_text(encoding="utf-8")
    assert line in japanese
    (copied / CATALOGUES / "ja.toml").write_text(japanese.replace(line, instead, 1), encoding="utf-8")

    ran = run(copied, READ)

    assert ran.returncode == 1
    assert "ja.toml" in ran.stderr
    assert key in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
def test_a_function_with_a_bad_catalogue_does_not_start(copied: Path) -> None:
    (copied / CATALOGUES / "ja.toml").write_text('[button]\nup = "役に立った"\n', encoding="utf-8")
    corpus = "projects/p/locations/l/ragCorpora/1"
    environment = {"GOOGLE_CLOUD_PROJECT": "p", "PUBLISHES_TO": "findings", "RAG_CORPUS": corpus}

    ran = run(copied, f"import os; os.environ |= {environment}; import retrieve_fn.main")

    assert ran.returncode == 1
    assert "cannot start" in ran.stderr
    assert "button.down: missing" in ran.stderr


@pytest.mark.slow
def test_no_catalogue_is_read_at_import(copied: Path) -> None:
    shutil.rmtree(copied / CATALOGUES)
    modules = [path.stem for path in (copied / "shared/language").glob("*.py") if path.stem != "__init__"]
    imports = "; ".join(f"import shared.language.{module}" for module in modules)

    ran = run(copied, f"{imports}; import ingest_fn.door, retrieve_fn.retrieve, answer_fn.tell")

    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("language", languages())
def test_what_the_bot_asks_for_confirms(language: str) -> None:
    for key in ("thread", "direct"):
        [said] = re.findall(r"/forget ([^”」»\s]+)", catalogue(language).texts["forget"][key])
        assert confirms(said)


@pytest.mark.parametrize("language", languages())
def test_every_way_of_pointing_has_one_number(language: str) -> None:
    said = grammar(language).pointing
    for pattern in said.patterns:
        groups = re.compile(pattern).groups
        assert groups + len(re.findall("<ordinal>|<cardinal>", pattern)) == 1
    assert pointed_out("nothing", ["- a\n- b"]) == "nothing"


@pytest.mark.parametrize("language", languages())
def test_a_long_text_of_polite_words_is_judged_at_once(language: str) -> None:
    said = grammar(language).courtesies
    phrases = [*said.lead, said.opens[0], *said.goes_on * 10]
    started = time.perf_counter()

    assert not is_small_talk(f"{' '.join(phrases)} VPN")
    assert not is_small_talk(f"{''.join(phrases)}VPN")
    assert time.perf_counter() - started < 1
