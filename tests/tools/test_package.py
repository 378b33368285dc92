"""The zips of the functions: what is in them, and that each runs alone, as it is deployed."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from local.places import free_port
from local.stand_ins.faults import Faults
from local.stand_ins.pubsub.server import PubSub
from shared.pipeline import pipeline
from tests.support.loopback import http
from tests.support.pubsub_side import Side
from tests.support.serving import serving
from tests.support.terraform_config import files_uploaded
from tools import package

START_SECONDS = 60
UV = (sys.executable, "-m", "uv", "--quiet")
PROJECT = "demo"
GARBAGE = b"\x00 not an envelope"
#: What a function must be told beside the project.
REQUIRED = {
    "ingest_fn": {"CHAT_AUDIENCE": "https://bot.example/chat"},
    "retrieve_fn": {"RAG_CORPUS": "projects/p/locations/l/ragCorpora/1"},
}
NOWHERE = "127.0.0.1:9"
#: What keeps the functions off the network; every step's services are made before they are called.
STAND_INS = {
    "CHAT_ENDPOINT": f"http://{NOWHERE}",
    "RAG_ENDPOINT": f"http://{NOWHERE}",
    "FIRESTORE_EMULATOR_HOST": NOWHERE,
    "PUBSUB_EMULATOR_HOST": NOWHERE,
    "GEMINI_API_KEY": "made-up",
    "GOOGLE_GEMINI_BASE_URL": f"http://{NOWHERE}",
}
#: functions-framework, started without the settings that a function must have. It says where it has imported
#: `shared` from and why it ended. Then it starts with them: to import everything twice would take seconds.
STARTED_TWICE = """
import json, os, runpy, sys
settings = json.loads(sys.argv.pop(1))
try:
    runpy.run_module("functions_framework", run_name="__main__")
except SystemExit as end:
    print(json.dumps({"shared": sys.modules["shared"].__file__, "end": end.code}), flush=True)
os.environ.update(settings)
runpy.run_module("functions_framework", run_name="__main__")
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of what the zips are made of."""
    root = tmp_path / "source"
    for folder in (*pipeline().folders, "shared"):
        shutil.copytree(package.ROOT / folder, root / folder)
    return root


def names(function: str, root: Path = package.ROOT) -> list[str]:
    return [name for name, _ in package.contents(function, root)]


def test_the_same_source_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    first = [archive.read_bytes() for archive in package.build(tmp_path / "first", source)]
    for path in source.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)
    second = [archive.read_bytes() for archive in package.build(tmp_path / "second", source)]
    assert first == second


def test_other_code_gives_other_bytes(source: Path, tmp_path: Path) -> None:
    before = package.build(tmp_path / "before", source)
    with (source / "answer_fn" / "main.py").open("a") as code:
        code.write("\n")
    after = package.build(tmp_path / "after", source)
    changed = [a.name for a, b in zip(before, after, strict=True) if a.read_bytes() != b.read_bytes()]
    assert changed == ["answer_fn.zip"]


@pytest.mark.parametrize("function", pipeline().folders)
def test_a_zip_holds_its_entry_point_its_package_and_shared_only(function: str) -> None:
    tops = {name.split("/")[0] for name in names(function)}
    assert tops == {"main.py", "requirements.txt", function, "shared"}
    assert f"{function}/__init__.py" in names(function)
    assert len(set(names(function))) == len(names(function))


@pytest.mark.parametrize("function", pipeline().folders)
def test_main_and_requirements_are_lifted_to_the_root_unchanged(function: str, tmp_path: Path) -> None:
    archive = next(a for a in package.build(tmp_path) if a.stem == function)
    with zipfile.ZipFile(archive) as zipped:
        for name in ("main.py", "requirements.txt"):
            assert zipped.read(name) == (package.ROOT / function / name).read_bytes()
            assert f"{function}/{name}" not in zipped.namelist()


def test_data_files_are_packed_and_caches_and_hidden_files_are_not(source: Path) -> None:
    for name in (
        "language/catalogues/extra.toml",
        "__pycache__/step.pyc",
        ".DS_Store",
        "language/catalogues/.notes.toml.swp",
    ):
        path = source / "shared" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    packed = names("answer_fn", source)
    assert "shared/language/catalogues/extra.toml" in packed
    assert not [name for name in packed if "pycache" in name or "/." in name or name.endswith(".in")]


def deployed_python() -> str:
    """Python 3.13, which the functions are deployed with; the running one where that is not installed."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = (shutil.which("python3.13"), *map(str, sorted(pyenv.glob("3.13.*/bin/python3.13"))))
    code = "import sys; sys.exit(sys.version_info[:2] != (3, 13))"
    for python in filter(None, (sys.executable, *found)):
        if subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0:
            return python
    return sys.executable


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty venv of the Python that the functions are deployed with."""
    folder = tmp_path_factory.mktemp("deployed") / "venv"
    subprocess.run([*UV, "venv", "--python", deployed_python(), str(folder)], check=True)
    yield folder
    shutil.rmtree(folder)  # pytest keeps the folders of three runs: a gigabyte each


@dataclass
class Alone:
    """One function in a process of its own, and Pub/Sub as far as it is needed."""

    function: str
    app: Path  #: its unpacked zip
    url: str
    log: Path
    pubsub: ExitStack  #: closed, there is no Pub/Sub
    side: Side
    parked: str  #: a subscription to what is parked


@pytest.fixture(scope="module", params=pipeline().folders)
def alone(
    request: pytest.FixtureRequest, venv: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Alone]:
    """One function's unpacked zip, running with just its requirements from a folder that is not its own.

    The zip holds what Terraform uploads; tests/terraform/test_packages.py compares that with `make package`.
    The venv is one for all functions: what they share is installed and compiled once.
    """
    function = request.param
    folder = tmp_path_factory.mktemp(function)
    app = folder / "app"
    with zipfile.ZipFile(folder / "uploaded.zip", "w") as zipped:
        for name, path in files_uploaded(function).items():
            zipped.write(path, name)
    with zipfile.ZipFile(folder / "uploaded.zip") as zipped:
        zipped.extractall(app)
    python = venv / "bin/python"
    sync = [*UV, "pip", "sync", "--only-binary", ":all:", "--python", str(python)]
    subprocess.run([*sync, str(app / "requirements.txt")], check=True)
    subprocess.run([*UV, "pip", "check", "--python", str(python)], check=True)
    faults = Faults()
    with ExitStack() as pubsub:
        address = pubsub.enter_context(serving("pubsub", PubSub(None, faults, mint=lambda **_: ""), faults))
        side = Side(address)
        topic = side.topic()
        settings = required(function) | {
            "PUBSUB_EMULATOR_HOST": address,
            "DEAD_LETTER_TOPIC": topic.rpartition("/")[2],
            "STEP_SECONDS": "20",
        }
        log = folder / "log"
        with served(python, app, settings, log) as url:
            yield Alone(function, app, url, log, pubsub, side, side.subscription(topic))


def required(function: str) -> dict[str, str]:
    return {"GOOGLE_CLOUD_PROJECT": PROJECT, **REQUIRED.get(function, {})}


@contextmanager
def served(python: Path, app: Path, settings: dict[str, str], log: Path) -> Iterator[str]:
    """Serve the function in `app`, which is given nothing of this process's environment; yields its URL."""
    port = free_port()
    options = [
        "--source",
        str(app / "main.py"),
        "--target",
        "main",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with log.open("w") as output:
        process = subprocess.Popen(
            [python, "-c", STARTED_TWICE, json.dumps(settings), *options],
            cwd=app.parent, env={"PATH": "/usr/bin:/bin", "HOME": str(app.parent), **STAND_INS},
            stdout=output, stderr=output,
        )  # fmt: skip
    try:
        wait_until_listening(process, port, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def wait_until_listening(process: subprocess.Popen[Any], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"The function does not listen: {log.read_text()}")


@pytest.mark.slow
def test_a_function_imports_its_own_copy_of_shared(alone: Alone) -> None:
    assert first_start(alone)["shared"] == str(alone.app / "shared" / "__init__.py")


@pytest.mark.slow
def test_missing_settings_fail_the_start_and_are_named(alone: Alone) -> None:
    said = first_start(alone)["end"]
    assert isinstance(said, str)  # Python prints it to stderr, and the exit code is 1
    assert [name for name in required(alone.function) if name not in said] == []
    assert "Traceback" not in alone.log.read_text()


def first_start(alone: Alone) -> Any:
    """What the function said when it was started without settings; that is the first line of its log."""
    return json.loads(alone.log.read_text().partition("\n")[0])


@pytest.mark.slow
def test_a_function_alone_answers_as_its_caller_expects(alone: Alone) -> None:
    """What cannot be parked, because Pub/Sub is away, is asked for again."""
    answer = http.post(alone.url, content=GARBAGE)
    if alone.function == "ingest_fn":
        assert answer.status_code == 401
        assert alone.side.pull(alone.parked) == []
        return
    assert (answer.status_code, answer.text) == (204, "")
    [letter] = alone.side.pull_until(alone.parked)
    assert letter.message.data == GARBAGE
    alone.side.close()
    alone.pubsub.close()

    answer = http.post(alone.url, content=GARBAGE)
    assert (answer.status_code, answer.text) == (503, "")
