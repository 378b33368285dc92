"""`tools/setup.py` for real, in a fresh clone with small requirements, without network and PATH."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests import ROOT
from tests.support.interrupting import interruptible
from tools.installer import base_python, find_pip

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


def test_a_setup_is_done_once(clone: Clone) -> None:
    code, output = clone.setup("run")
    assert code == 0, output
    assert "Making .venv" in output
    assert (clone.version("apple"), clone.version("plum")) == ("1", "")
    (clone.root / ".local" / "setup.log").unlink()
    before = cpu_seconds()
    assert clone.setup("run") == (0, "")
    assert cpu_seconds() - before < 0.5
    assert not (clone.root / ".local" / "setup.log").exists()


def test_the_test_tools_are_added_and_stay(clone: Clone) -> None:
    clone.setup("run")
    code, output = clone.setup("test")
    assert code == 0, output
    assert "Making" not in output
    assert clone.version("plum") == "1"
    assert clone.setup("run") == (0, "")
    clone.require(apple="2")
    code, output = clone.setup("run")
    assert code == 0, output
    assert (clone.version("apple"), clone.version("plum")) == ("2", "1")
    assert clone.setup("test") == (0, "")


def test_a_setup_that_was_killed_is_done_afresh(clone: Clone) -> None:
    process = clone.start("run")
    while not (clone.root / ".local" / "setup.log").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    half_done = clone.venv / "half-done"
    half_done.touch()
    code, output = clone.setup("run")
    assert code == 0, output
    assert not half_done.exists()
    assert clone.version("apple") == "1"


def test_a_venv_that_cannot_be_trusted_is_made_anew(clone: Clone, tmp_path: Path) -> None:
    clone.setup("run")
    moved = Clone(tmp_path / "moved")
    shutil.copytree(clone.venv, moved.venv, symlinks=True)
    assert "Making .venv" in moved.setup("run")[1]
    python = clone.venv / "bin" / "python"
    python.unlink()
    python.symlink_to(tmp_path / "uninstalled")
    assert "Making .venv" in clone.setup("run")[1]
    assert clone.version("apple") == "1"


def test_two_setups_at_once_do_the_work_once(clone: Clone) -> None:
    both = [clone.start("run") for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert sorted("Making" in output for output in outputs) == [False, True]
    assert "Waiting for another setup" in next(output for output in outputs if "Making" not in output)
    assert clone.version("apple") == "1"


def test_an_unreachable_index_is_told_and_the_next_setup_succeeds(clone: Clone) -> None:
    nowhere = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": CLOSED_PORT, "PIP_RETRIES": "1"}
    code, output = clone.setup("run", **nowhere)
    assert code == 1
    assert "The package index cannot be reached" in output
    assert str(clone.root / ".local" / "setup.log") in output
    assert "Traceback" not in output
    assert clone.setup("run")[0] == 0
    assert clone.version("apple") == "1"


def test_a_missing_wheel_is_named(clone: Clone) -> None:
    clone.require(apple="3")
    code, output = clone.setup("run")
    assert code == 1
    assert "has no ready-made wheel of apple==3 for Python" in output
    assert "Traceback" not in output


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


def test_a_personal_pip_setting_does_not_send_packages_elsewhere(clone: Clone, tmp_path: Path) -> None:
    elsewhere = {"PIP_TARGET": str(tmp_path / "elsewhere"), "PIP_USER": "1", "PYTHONPATH": str(tmp_path)}
    code, output = clone.setup("run", **elsewhere)
    assert code == 0, output
    assert clone.version("apple") == "1"
    assert not (tmp_path / "elsewhere").exists()


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
    on_path = [path for name in names if (path := shutil.which(name))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return [python for python in (*on_path, *map(str, sorted(pyenv.glob("*/bin/python")))) if is_old(python)]


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
    newer.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    newer.chmod(0o755)
    code, output = clone.setup("run", python=old[0], PATH=str(tmp_path / "bin"))
    assert code == 0, output
    assert clone.version("apple") == "1"
