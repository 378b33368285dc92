"""Where everything is on this machine: ports on loopback, and files below the state folder."""

import random
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from shared.pipeline import pipeline

HOST = "127.0.0.1"
PROJECT = "threadwise-local"
#: The number of the project, and the identities of production that sign what the functions verify: of the
#: push subscriptions, of Chat for a classic Chat app, and of one that is an add-on.
PROJECT_NUMBER = "400000000001"
PUSH_IDENTITY = f"pubsub-push@{PROJECT}.iam.gserviceaccount.com"
CHAT_IDENTITY = "chat@system.gserviceaccount.com"
ADD_ON_IDENTITY = f"service-{PROJECT_NUMBER}@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"
LOCATION = "local"
CORPUS = f"projects/{PROJECT}/locations/{LOCATION}/ragCorpora/local"


class CannotStart(Exception):
    """The small cloud cannot be started; the text says what is in the way."""


class PortTaken(Exception):
    """Somebody else listens on a port that was asked for."""

    def __init__(self, port: int) -> None:
        super().__init__(f"Port {port} is in use")
        self.port = port


#: Handed out by this process: nobody may listen there yet, and still it is taken.
_handed_out: set[int] = set()


def free_port() -> int:
    """A port that nobody listens on now; never the same twice.

    Not one of those that systems hand out by themselves (from 32768 on Linux): between our look and the
    function's start, somebody else could be given it.
    """
    while True:
        port = random.randint(20_000, 30_000)
        if port in _handed_out:
            continue
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            _handed_out.add(port)
            return port


@dataclass(frozen=True)
class Places:
    """The addresses of one small cloud and its functions. `state` None: nothing is kept."""

    state: Path | None
    logs: Path
    http: int
    pubsub: int = field(default_factory=free_port)
    firestore: int = field(default_factory=free_port)
    rag: int = field(default_factory=free_port)
    functions: dict[str, int] = field(
        default_factory=lambda: {step.name: free_port() for step in pipeline().functions}
    )

    @property
    def url(self) -> str:
        """The page, Google Chat's API, Gemini's API, Cloud Storage's API and the certificates."""
        return f"http://{HOST}:{self.http}"

    @property
    def door(self) -> str:
        """Where Chat calls: the function that takes its events."""
        return self.function_url(pipeline().first.name)

    def function_url(self, name: str) -> str:
        """Where a function is called."""
        return f"http://{HOST}:{self.functions[name]}/"

    def file(self, name: str) -> Path | None:
        """A file of the state folder, if state is kept."""
        return self.state / name if self.state else None
