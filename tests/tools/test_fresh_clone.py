"""`tools/setup.py` for real, in a fresh clone with small requirements, without network and PATH."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import ROOT
from tests.support.interrupting import interruptible
from tools.installer import SetupFailed, base_python, find_pip, install

pytestmark = pytest.mark.slow
NO_PATH = "/nonexistent"
CLOSED_PORT = "http://127.0.0.1:9/simple"


def wheel(folder: Path, name: str, version: str) -> None:
    """A wheel that installs one module, which holds its version."""
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as zipped:
        zipped.writestr(f"{name}.py", f"VERSION = {version!r}\n")
        zipped.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        zipped.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        zipped.writestr(f"{about}/RECORD", "")


class Clone:
    """A fresh clone with small requirements: `apple` to run, `apple` and `plum` to test."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.wheels = root / "wheels"
        self.venv = root / ".venv"
        for folder in ("wheels", "local", "tests"):
            (root / folder).mkdir(parents=True)
        shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        for name, version in (("apple", "1"), ("apple", "2"), ("plum", "1")):
            wheel(self.wheels, name, version)
        self.require(apple="1")

    def require(self, apple: str) -> None:
        (self.root / "local" / "requirements.txt").write_text(f"# pinned\napple=={apple}\n")
        (self.root / "tests" / "requirements.txt").write_text(f"# pinned\napple=={apple}\nplum==1\n")

    def start(self, *arguments: str, python: str = sys.executable, **variables: str) -> subprocess.Popen[str]:
        environment = {"HOME": str(self.root), "PATH": NO_PATH, "PIP_CONFIG_FILE": os.devnull}
        environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)} | variables
        return subprocess.Popen(
            interruptible(python, "tools/setup.py", *arguments), cwd=self.root, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def setup(self, *arguments: str, python: str = sys.executable, **variables: str) -> tuple[int, str]:
        """Exit code and output of `tools/setup.py`, run without the network and without a PATH."""
        process = self.start(*arguments, python=python, **variables)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    def version(self, module: str) -> str:
        """The installed version, empty if there is none."""
        code = f"import {module}; print({module}.VERSION)"
        command = [str(self.venv / "bin" / "python"), "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def cpu_seconds() -> float:
    """What this process's children have used; unlike the time of day, it does not depend on who else runs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clone")


@dataclass
class Begun:
    """A clone whose first setup found no index; then two succeeded at once, with misleading pip settings."""

    clone: Clone
    unreachable: tuple[int, str]
    at_once: list[tuple[int, str]]
    elsewhere: Path


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Begun:
    clone = Clone(tmp_path_factory.mktemp("begun") / "clone")
    nowhere = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": CLOSED_PORT, "PIP_RETRIES": "1"}
    unreachable = clone.setup("run", **nowhere)
    elsewhere = clone.root.with_name("elsewhere")
    misleading = {"PIP_TARGET": str(elsewhere), "PIP_USER": "1", "PYTHONPATH": str(elsewhere)}
    both = [clone.start("run", **misleading) for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0] for process in both]
    at_once = [(process.returncode, output) for process, output in zip(both, outputs, strict=True)]
    shutil.copytree(clone.root, clone.root.with_name("as-begun"), symlinks=True)
    return Begun(clone, unreachable, at_once, elsewhere)


@pytest.fixture
def finished(begun: Begun) -> Clone:
    """The clone as its first setups left it, whatever another test did: a venv holds in one place."""
    shutil.rmtree(begun.clone.root)
    shutil.copytree(begun.clone.root.with_name("as-begun"), begun.clone.root, symlinks=True)
    return begun.clone


def test_an_unreachable_index_is_told_and_the_next_setup_succeeds(begun: Begun, finished: Clone) -> None:
    code, output = begun.unreachable
    assert code == 1
    assert "The package index cannot be reached" in output
    assert str(finished.root / ".local" / "setup.log") in output
    assert "Traceback" not in output
    assert finished.version("apple") == "1"


def test_two_setups_at_once_do_the_work_once(begun: Begun, finished: Clone) -> None:
    outputs = [output for _, output in begun.at_once]
    assert [code for code, _ in begun.at_once] == [0, 0], outputs
    assert sorted("Making .venv" in output for output in outputs) == [False, True]
    assert "Waiting for another setup" in next(output for output in outputs if "Making" not in output)
    assert finished.version("apple") == "1"


def test_a_personal_pip_setting_does_not_send_packages_elsewhere(begun: Begun, finished: Clone) -> None:
    assert finished.version("apple") == "1"
    assert not begun.elsewhere.exists()


def test_a_setup_is_done_once(finished: Clone) -> None:
    assert (finished.version("apple"), finished.version("plum")) == ("1", "")
    (finished.root / ".local" / "setup.log").unlink()
    before = cpu_seconds()
    assert finished.setup("run") == (0, "")
    assert cpu_seconds() - before < 0.5
    assert not (finished.root / ".local" / "setup.log").exists()


def test_the_test_tools_are_added_and_stay(finished: Clone) -> None:
    code, output = finished.setup("test")
    assert code == 0, output
    assert "Making" not in output
    assert finished.version("plum") == "1"
    assert finished.setup("run") == (0, "")
    finished.require(apple="2")
    code, output = finished.setup("run")
    assert code == 0, output
    assert (finished.version("apple"), finished.version("plum")) == ("2", "1")
    assert finished.setup("test") == (0, "")


def test_a_setup_that_was_killed_is_done_afresh(clone: Clone) -> None:
    process = clone.start("run")
    while not (clone.root / ".local" / "setup.log").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert_made_anew(clone)


def test_a_venv_that_was_copied_is_made_anew(finished: Clone, clone: Clone) -> None:
    shutil.copytree(finished.venv, clone.venv, symlinks=True)
    assert_made_anew(clone)


def test_a_venv_whose_python_is_gone_is_made_anew(finished: Clone, tmp_path: Path) -> None:
    python = finished.venv / "bin" / "python"
    python.unlink()
    python.symlink_to(tmp_path / "uninstalled")
    assert_made_anew(finished)


def assert_made_anew(clone: Clone) -> None:
    """The next setup empties the venv; what it does after that is what every first one does."""
    left_over = clone.venv / "left-over"
    left_over.touch()
    process = clone.start("run")
    while left_over.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert "Making .venv" in output


def test_a_missing_wheel_is_named(finished: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(finished.wheels))
    finished.require(apple="3")
    pip = [base_python(), "-m", "pip", "--python", str(finished.venv / "bin" / "python")]
    with pytest.raises(SetupFailed, match="has no ready-made wheel of apple==3 for Python"):
        install(pip, finished.root / "local" / "requirements.txt", finished.root / "log", lambda found: None)


def test_ctrl_c_ends_without_a_traceback(clone: Clone) -> None:
    process = clone.start("run")
    while not clone.venv.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Interrupted" in output
    assert "Traceback" not in output


def test_ensurepip_gives_the_venv_a_pip_that_works(tmp_path: Path) -> None:
    subprocess.run([base_python(), "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    if subprocess.run([python, "-c", "import ensurepip"], capture_output=True, check=False).returncode:
        pytest.skip("this Python has no ensurepip")
    pip = find_pip(python, str(tmp_path / "absent"), ())
    assert subprocess.run([*pip, "list"], capture_output=True, check=False).returncode == 0


def old_pythons() -> list[str]:
    """Interpreters older than 3.11 on this machine, where the usual places have them."""
    names = ("python2.7", *(f"python3.{minor}" for minor in range(6, 11)))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    # pyenv's shims are slow, and start what is in its `versions`.
    on_path = [path for name in names if (path := shutil.which(name)) and Path(path).parent.name != "shims"]
    found = (*on_path, *map(str, sorted((pyenv / "versions").glob("*/bin/python"))))
    return [python for python in found if is_old(python)]


def is_old(python: str) -> bool:
    code = "import sys; sys.exit(sys.version_info >= (3, 11))"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def old() -> list[str]:
    found = old_pythons()
    if not found:
        pytest.skip("no Python older than 3.11 on this machine")
    return found


def test_an_old_python_says_which_one_is_needed(old: list[str], clone: Clone) -> None:
    for python in old:
        code, output = clone.setup("run", python=python)
        assert code == 1
        assert output.startswith("threadwise needs Python 3.11, 3.12 or 3.13. Found only"), output


def test_an_old_python_hands_over_to_a_newer_one_on_the_path(
    old: list[str], clone: Clone, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    newer = tmp_path / "bin" / "python3.12"
    newer.write_text(f'#!/bin/sh\necho "newer: $*"\nexec "{sys.executable}" "$@"\n')
    newer.chmod(0o755)
    code, output = clone.setup("--help", python=old[0], PATH=str(tmp_path / "bin"))
    assert code == 0, output
    assert output.startswith("newer: -m tools.prepare --help\nusage: tools/setup.py"), output
