"""Preparing `.venv`: which Python and pip are chosen, when nothing is to be done, what a person is told."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tools import prepare, setup, stamp
from tools.installer import SetupFailed, find_pip, reason
from tools.stamp import Stamp


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_first_python_that_starts_and_fits_is_chosen(tmp_path: Path) -> None:
    broken_shim = script(tmp_path / "python3.13", "echo 'command not found' >&2; exit 127")
    fitting = script(tmp_path / "python3.12", f'exec "{sys.executable}" "$@"')
    assert setup.choose((str(tmp_path / "absent"), broken_shim, fitting, sys.executable)) == fitting


def test_no_python_is_chosen_when_none_fits(tmp_path: Path) -> None:
    assert setup.choose((str(tmp_path / "absent"), script(tmp_path / "python3", "exit 1"))) == ""


def test_the_refusal_says_what_is_needed_and_how_to_get_it() -> None:
    text = setup.refusal("")
    assert "3.11, 3.12 or 3.13" in text
    assert "apt-get install" in text
    assert "brew install" in text
    assert sys.executable in text


def test_the_refusal_of_an_asked_python_names_it() -> None:
    assert "PYTHON=/opt/python2" in setup.refusal("/opt/python2")


@pytest.fixture
def made(tmp_path: Path) -> Stamp:
    """The stamp of a folder that has the running Python in `bin`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    return Stamp(str(tmp_path), stamp.identity(str(tmp_path / "bin" / "python")), "run", "0" * 64)


def test_a_stamp_is_read_as_it_was_written(made: Stamp, tmp_path: Path) -> None:
    stamp.write(tmp_path, made)
    assert stamp.read(tmp_path) == made
    stamp.remove(tmp_path)
    assert stamp.read(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"folder": "/x"}'])
def test_a_damaged_stamp_counts_as_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "setup.json").write_text(text)
    assert stamp.read(tmp_path) is None


def test_a_stamp_holds_only_where_it_was_made_and_while_its_python_starts(
    made: Stamp, tmp_path: Path
) -> None:
    assert made.holds(tmp_path)
    assert not replace(made, folder="/elsewhere").holds(tmp_path)
    assert not replace(made, python="/usr 3.10").holds(tmp_path)
    (tmp_path / "bin" / "python").unlink()
    assert not made.holds(tmp_path)


def test_a_venv_behind_a_link_is_left_as_it_is(made: Stamp, tmp_path: Path) -> None:
    stamp.write(tmp_path, made)
    link = tmp_path.with_name(f"{tmp_path.name}-link")
    link.symlink_to(tmp_path)

    with pytest.raises(SetupFailed, match="is a link"):
        prepare.prepare(link, "run", this_python=False)

    assert stamp.read(tmp_path) == made
    assert (tmp_path / "bin" / "python").exists()


#: (what pip printed, what a person is told)
FAILURES = [
    (
        "WARNING: Retrying after connection broken by 'NewConnectionError(...): Connection refused'\n"
        "ERROR: No matching distribution found for six==1.17.0",
        "cannot be reached",
    ),
    ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'))", "not trusted"),
    (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "disk is full",
    ),
    (
        "ERROR: No matching distribution found for numpy==2.5.5",
        "no ready-made wheel of numpy==2.5.5 for Python",
    ),
    ("ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: 'x'", "written to"),
    ("Segmentation fault", "pip failed"),
]


@pytest.mark.parametrize(("output", "told"), FAILURES)
def test_a_failure_of_pip_is_told_in_one_sentence(output: str, told: str) -> None:
    assert told in reason(output)
    assert "\n" not in reason(output)


FAILS = "exit 1"
ONLY_PIP = '[ "$2" = pip ] && [ "$3" = --python ]'
ONLY_ENSUREPIP = '[ "$2" = ensurepip ]'


def test_the_pip_of_the_python_itself_comes_first(tmp_path: Path) -> None:
    base = script(tmp_path / "base", ONLY_PIP)
    venv = script(tmp_path / "venv", ONLY_ENSUREPIP)
    assert find_pip(Path(venv), base, (base,)) == [base, "-m", "pip", "--python", venv]


def test_without_a_pip_the_venv_gets_its_own_from_ensurepip(tmp_path: Path) -> None:
    base = script(tmp_path / "base", FAILS)
    venv = script(tmp_path / "venv", ONLY_ENSUREPIP)
    assert find_pip(Path(venv), base, ()) == [venv, "-m", "pip"]


def test_without_ensurepip_another_pythons_pip_helps(tmp_path: Path) -> None:
    base = script(tmp_path / "base", FAILS)
    old = script(tmp_path / "old", '[ "$2" = pip ] && [ "$3" != --python ]')
    other = script(tmp_path / "other", ONLY_PIP)
    venv = script(tmp_path / "venv", FAILS)
    found = find_pip(Path(venv), base, (str(tmp_path / "absent"), old, other))
    assert found == [other, "-m", "pip", "--python", venv]


def test_without_any_pip_a_person_is_told_what_to_install(tmp_path: Path) -> None:
    nothing = script(tmp_path / "nothing", FAILS)
    with pytest.raises(SetupFailed, match=r"sudo apt-get install python3\.\d+-venv"):
        find_pip(Path(nothing), nothing, (nothing,))
