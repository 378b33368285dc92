"""Where everything is on this machine: ports on loopback, and files in the state folder."""

import random
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from shared.pipeline import pipeline

HOST = "127.0.0.1"
PROJECT = "threadwise-local"
#: The project's number, and the identities whose tokens the functions verify: that of the push subscriptions,
#: that of Chat for a classic Chat app, and that of Chat for an add-on.
PROJECT_NUMBER = "400000000001"
PUSH_IDENTITY = f"pubsub-push@{PROJECT}.iam.gserviceaccount.com"
CHAT_IDENTITY = "chat@system.gserviceaccount.com"
ADD_ON_IDENTITY = f"service-{PROJECT_NUMBER}@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"
LOCATION = "local"
#: The bucket of the knowledge base: production fills a corpus from one, and names its sources by it.
BUCKET = "gs://threadwise-knowledge"
CORPUS = f"projects/{PROJECT}/locations/{LOCATION}/ragCorpora/local"


class CannotStart(Exception):
    """The small cloud cannot start; the text says why."""


class PortTaken(Exception):
    """Another program already listens on the port."""

    def __init__(self, port: int) -> None:
        super().__init__(f"Port {port} is in use")
        self.port = port


#: For each port that this process has handed out, the same one of UDP, which nobody else needs: while it is
#: held, no other process of ours is given that port, though nobody may listen there yet.
_held: list[socket.socket] = []


def free_port() -> int:
    """A port that nobody listens on now; never the same twice, whichever process on this machine asks.

    It avoids the ports that the system assigns itself (32768 and above on Linux): another program could get
    one before the function starts.
    """
    while True:
        port = random.randint(20_000, 30_000)
        holder = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with socket.socket() as probe, suppress(OSError):
            holder.bind((HOST, port))
            probe.bind((HOST, port))
            _held.append(holder)
            return port
        holder.close()


@dataclass(frozen=True)
class Places:
    """The addresses of one small cloud and its functions. Without `state`, everything stays in memory."""

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
        """The URL of a function."""
        return f"http://{HOST}:{self.functions[name]}/"

    @property
    def sweep_url(self) -> str:
        """Where the scheduler calls."""
        return self.function_url(pipeline().teller.name).rstrip("/") + pipeline().sweep.path

    @property
    def emulators(self) -> dict[str, str]:
        """The environment variables that point the SDKs at Pub/Sub and Firestore here."""
        return {
            "PUBSUB_EMULATOR_HOST": f"{HOST}:{self.pubsub}",
            "FIRESTORE_EMULATOR_HOST": f"{HOST}:{self.firestore}",
        }

    def file(self, name: str) -> Path | None:
        """A file in the state folder, or None when everything stays in memory."""
        return self.state / name if self.state else None
