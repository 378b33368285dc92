"""Importing a module does no work: it opens no file, looks into no folder, and speaks to nobody."""

import subprocess
import sys
from pathlib import Path

import pytest

from shared.pipeline import pipeline
from tests import ROOT

#: Imports modules of the folder that is the first argument, and prints what their own code does meanwhile. It
#: looks down the stack to the nearest import: other packages may read their files when they are imported.
WATCH = """
import importlib, sys

WORK = {
    "open", "os.listdir", "os.scandir", "subprocess.Popen",
    "socket.bind", "socket.connect", "socket.getaddrinfo",
}
root, *modules = sys.argv[1:]
sys.path.insert(0, root)
own = tuple(f"{root}/{name.split('.')[0]}" for name in modules)

def watch(event, args):
    frame = sys._getframe(1) if event in WORK else None
    while frame and not frame.f_code.co_filename.startswith("<frozen importlib"):
        if frame.f_code.co_filename.startswith(own):
            print(f"{frame.f_code.co_filename}:{frame.f_lineno}: {event} {args[:1]}")
            break
        frame = frame.f_back

sys.addaudithook(watch)
for module in modules:
    importlib.import_module(module)
"""


def work_at_import(root: Path, *modules: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", WATCH, str(root), *modules], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_no_module_of_the_functions_does_anything_when_it_is_imported() -> None:
    files = [file for folder in ("shared", *pipeline().folders) for file in (ROOT / folder).rglob("*.py")]
    modules = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in files
        if file.name not in {"main.py", "__init__.py"}
    ]

    assert len(modules) > 60
    assert work_at_import(ROOT, *modules) == ""


@pytest.mark.parametrize(
    "line, seen",
    [
        ("open(__file__).read()", "open"),
        ("import tempfile; tempfile.TemporaryFile()", "open"),
        ("import pathlib; list(pathlib.Path().iterdir())", "os."),
        ("import socket; socket.getaddrinfo('127.0.0.1', 80)", "socket.getaddrinfo"),
        ("import socket; socket.socket().bind(('127.0.0.1', 0))", "socket.bind"),
        ("import socket; socket.socket().connect_ex(('127.0.0.1', 9))", "socket.connect"),
        ("import subprocess, sys; subprocess.run([sys.executable, '-V'], capture_output=True)", "Popen"),
        ("def f(): return open(__file__)\nf()", "open"),
        ("import json, decimal", ""),
    ],
)
def test_work_of_a_module_is_seen(line: str, seen: str, tmp_path: Path) -> None:
    (tmp_path / "worker.py").write_text(line, encoding="utf-8")

    found = work_at_import(tmp_path, "worker")

    assert seen in found
    assert bool(found) == bool(seen)
