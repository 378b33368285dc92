"""The process of a function: functions-framework, forked from a process that has already imported the SDKs.

Otherwise five functions would import the same SDKs five times, and again after every fault that kills one. On
a laptop with two cores that is most of the start time. Only imports are shared: no client is created before
the fork (`shared/runtime/clients.py`), and each process reads its own environment.
"""

import multiprocessing
import os
import runpy
import signal
import sys
import threading
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path

from local.runner.skew import Clock, set_by

ROOT = Path(__file__).resolve().parents[2]
#: None of them reads the environment at import.
_SDKS = (
    "flask",
    "gunicorn.app.base",
    "google.apps.chat_v1",
    "google.cloud.aiplatform_v1.services.vertex_rag_service",
    "google.cloud.firestore",
    "google.cloud.pubsub_v1",
    "google.genai",
)
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload([__name__, *_SDKS])


def import_sdks() -> None:
    """Start to import the SDKs in a process of their own. Returns immediately."""
    forkserver.ensure_running()


def clock() -> Clock:
    """How many seconds a function's clock is ahead, as its `value`: 0 at first. It can be set at any time."""
    ahead: Clock = _forks.RawValue(Clock, 0.0)
    return ahead


def start(arguments: list[str], environment: dict[str, str], log: Path, ahead: Clock) -> BaseProcess:
    """Start functions-framework with these arguments and exactly this environment. Its output goes to `log`.

    Waits until the SDKs are imported.
    """
    process = _forks.Process(target=_serve, args=(arguments, environment, str(log), ahead), daemon=True)
    process.start()
    return process


def _serve(arguments: list[str], environment: dict[str, str], log: str, ahead: Clock) -> None:
    os.setsid()  # a group of its own: Ctrl-C reaches only the runner, which then stops the functions in order
    threading.Thread(target=_end_with_the_runner, daemon=True).start()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    os.close(output)
    sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    set_by(ahead)
    sys.argv = ["functions_framework", *arguments]
    runpy.run_module("functions_framework", run_name="__main__")


def _end_with_the_runner() -> None:
    runner = multiprocessing.parent_process()
    if runner is not None:
        runner.join()
        os.killpg(0, signal.SIGTERM)
