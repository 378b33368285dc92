"""Google's official emulators from the Cloud SDK. They start for one run and never stay behind."""

import http.client
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

from local.places import HOST, CannotStart, Places, free_port

Kind = Literal["pubsub", "firestore"]

_JARS: dict[Kind, str] = {
    "pubsub": "platform/pubsub-emulator/lib/cloud-pubsub-emulator-*-all.jar",
    "firestore": "platform/cloud-firestore-emulator/cloud-firestore-emulator.jar",
}
# The Firestore jar names no main class in its manifest.
_MAIN_CLASSES: dict[Kind, str] = {
    "pubsub": "com.google.cloud.pubsub.testing.v1.Main",
    "firestore": "com.google.cloud.datastore.emulator.firestore.CloudFirestore",
}
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0


def _sdk_roots() -> list[Path]:
    roots = [Path("/usr/lib/google-cloud-sdk")]
    if gcloud := shutil.which("gcloud"):
        roots.append(Path(gcloud).resolve().parent.parent)
    return roots


def _jars(kind: Kind) -> list[Path]:
    return [jar for root in _sdk_roots() for jar in sorted(root.glob(_JARS[kind]))]


def missing(kind: Kind) -> str | None:
    """The reason why the emulator cannot run here, or None if it can."""
    if shutil.which("java") is None:
        return "no java on the PATH"
    if not _jars(kind):
        return f"no {kind} emulator in a Google Cloud SDK"
    return None


def _command(kind: Kind, port: int) -> list[str]:
    # When gcloud's wrapper is killed, its JVM keeps running, so we start the jar directly. On Linux the
    # kernel ends it even when the run itself is killed (PR_SET_PDEATHSIG, which survives exec).
    tied_to_us = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.language=en"]
    program = ["-cp", str(_jars(kind)[-1]), _MAIN_CLASSES[kind]]
    return [*tied_to_us, *java, *program, f"--host={HOST}", f"--port={port}"]


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _wait_until_it_answers(process: subprocess.Popen[bytes], port: int, log: IO[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while not _answers(port):
        if process.poll() is not None or time.monotonic() > end:
            log.seek(0)
            raise CannotStart(f"The emulator did not start:\n{log.read().decode(errors='replace')}")
        time.sleep(0.05)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def emulator(kind: Kind, port: int | None = None) -> Iterator[str]:
    """Run Google's emulator of `kind`. Yields "127.0.0.1:port" when it answers, and ends its JVM afterwards.

    Without `port` it uses a free one. Raises CannotStart with the reason (see `missing`) or with the output
    of the emulator.
    """
    if reason := missing(kind):
        raise CannotStart(reason)
    port = port or free_port()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(_command(kind, port), stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_until_it_answers(process, port, log)
            yield f"{HOST}:{port}"
        finally:
            _end(process)


@contextmanager
def both(places: Places) -> Iterator[None]:
    """Run both emulators on the ports of Pub/Sub and Firestore. Raises CannotStart as `emulator` does."""
    with emulator("pubsub", places.pubsub), emulator("firestore", places.firestore):
        yield
