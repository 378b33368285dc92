"""The environment of each function's process, built from nothing: no real project, credentials or proxy."""

import os
import threading
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager

from local.places import (
    ADD_ON_IDENTITY,
    CHAT_IDENTITY,
    CORPUS,
    HOST,
    LOCATION,
    PROJECT,
    PROJECT_NUMBER,
    PUSH_IDENTITY,
    Places,
)
from local.runner.pipeline import DEAD_LETTERS, FUNCTIONS

ASKS_GEMINI = ("reformulate", "answer")
#: Writes a second in a space where Chat's quotas are off: still in turn, but hardly ever waiting for it.
UNBOUND = 1000
#: Questions a minute that are taken of one person at one laptop, or of a load test that speaks for two.
MOST_A_MINUTE = 100_000
#: What of a person's own environment the functions may see.
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV")
_making_clients = threading.Lock()


def of_function(
    name: str,
    places: Places,
    gemini_key: str | None,
    *,
    quotas: bool = True,
    most_a_minute: int = MOST_A_MINUTE,
) -> dict[str, str]:
    """The variables of one function; with `gemini_key` it asks the real Gemini. `quotas` are Chat's.

    `most_a_minute` are the questions of one person that are taken.
    """
    step = next(step for step in FUNCTIONS if step.name == name)
    common = {
        **{key: os.environ[key] for key in KEPT if key in os.environ},
        # google-auth looks for credentials in the home folder and on Google's metadata server.
        "HOME": str(places.logs),
        "NO_GCE_CHECK": "true",
        "GRPC_VERBOSITY": "ERROR",
        "PYTHONUNBUFFERED": "1",
        "GOOGLE_CLOUD_PROJECT": PROJECT,
        **_emulators_at(places),
        "DEAD_LETTER_TOPIC": DEAD_LETTERS,
        "CHAT_ENDPOINT": places.url,
    }
    pace = {} if quotas else {"CHAT_WRITES_PER_SECOND": str(UNBOUND)}
    given = {"PUBLISHES_TO": step.gives} if step.gives else {}
    gemini = _gemini(places, gemini_key) if name in ASKS_GEMINI else {}
    return {**common, **pace, **given, **_own(name, places, most_a_minute), **gemini}


def environment_of_operators(places: Places) -> str:
    """Shell lines that point `python -m ops` at this cloud."""
    variables = {
        "GOOGLE_CLOUD_PROJECT": PROJECT,
        **_emulators_at(places),
        "STORAGE_EMULATOR_HOST": places.url,
        "RAG_ENDPOINT": f"http://{HOST}:{places.rag}",
        "RAG_LOCATION": LOCATION,
    }
    return "".join(f"export {name}={value}\n" for name, value in variables.items())


def isolate(environ: MutableMapping[str, str]) -> None:
    """Leave the runner's own process nothing but what it may use: gRPC and httpx would follow a proxy, and
    the SDKs a project or an emulator of the person who runs it."""
    kept = {key: environ[key] for key in (*KEPT, "HOME", "TERM", "GEMINI_API_KEY") if key in environ}
    environ.clear()
    environ.update(kept, GRPC_VERBOSITY="ERROR")  # a closing stand-in is nothing to tell a person


@contextmanager
def clients_of(places: Places) -> Iterator[None]:
    """Clients of Pub/Sub and Firestore that are made in here are of this small cloud.

    The SDKs read their variables when a client is made, so this process has them for that moment alone.
    """
    variables = _emulators_at(places)
    with _making_clients:
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def own_key(environ: Mapping[str, str]) -> str | None:
    """The Gemini API key that a person has set, if any."""
    return environ.get("GEMINI_API_KEY") or None


def _emulators_at(places: Places) -> dict[str, str]:
    return {
        "PUBSUB_EMULATOR_HOST": f"{HOST}:{places.pubsub}",
        "FIRESTORE_EMULATOR_HOST": f"{HOST}:{places.firestore}",
    }


def _own(name: str, places: Places, most_a_minute: int) -> dict[str, str]:
    if name == "ingest":
        # Whatever the Chat here is switched to; production trusts the one kind of token that it is sent.
        return {
            "CHAT_AUDIENCE": f"{places.function_url('ingest')},{PROJECT_NUMBER}",
            "CHAT_EMAIL": f"{CHAT_IDENTITY},{ADD_ON_IDENTITY}",
            "PUSH_EMAIL": PUSH_IDENTITY,
            "CHAT_CERTS_URL": f"{places.url}/certs",
            "CHAT_OWN_CERTS_URL": f"{places.url}/certs/chat",
            "QUESTIONS_PER_MINUTE": str(most_a_minute),
        }
    if name == "retrieve":
        return {
            "RAG_CORPUS": CORPUS,
            "RAG_ENDPOINT": f"http://{HOST}:{places.rag}",
            # The index here compares words.
            "SEARCH_KIND": "lexical",
            "SOURCE_LINKS": f'{{"gs://threadwise-knowledge/": "{places.url}/knowledge/"}}',
        }
    return {}


def _gemini(places: Places, gemini_key: str | None) -> dict[str, str]:
    if gemini_key:
        return {"GEMINI_API_KEY": gemini_key}
    return {"GEMINI_API_KEY": "local", "GOOGLE_GEMINI_BASE_URL": places.url}
