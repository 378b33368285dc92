"""The environment of each function's process. It names no real project, credentials or proxy."""

import os
from collections.abc import Mapping, MutableMapping

from local.places import (
    ADD_ON_IDENTITY,
    BUCKET,
    CHAT_IDENTITY,
    CORPUS,
    HOST,
    LOCATION,
    PROJECT,
    PROJECT_NUMBER,
    PUSH_IDENTITY,
    Places,
)
from shared.pipeline import Row, pipeline

#: Writes per second and space when Chat's quotas are off: writes still take turns, but hardly ever wait.
UNBOUND = 1000
#: Questions per minute that are taken from one person at a laptop, or from a load test that speaks for two.
MOST_A_MINUTE = 100_000
#: The only variables of the person's own environment that the functions see.
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV")


def of_function(
    name: str,
    places: Places,
    gemini_key: str | None,
    *,
    quotas: bool = True,
    most_a_minute: int = MOST_A_MINUTE,
) -> dict[str, str]:
    """The variables of one function. With `gemini_key` it calls the real Gemini. `quotas` are Chat's.

    `most_a_minute` is how many questions per minute the first step takes from one person.
    """
    step = pipeline().step(name)
    common = {
        **{key: os.environ[key] for key in KEPT if key in os.environ},
        # google-auth looks for credentials in the home folder and on Google's metadata server.
        "HOME": str(places.logs),
        "NO_GCE_CHECK": "true",
        "GRPC_VERBOSITY": "ERROR",
        "PYTHONUNBUFFERED": "1",
        "GOOGLE_CLOUD_PROJECT": PROJECT,
        **places.emulators,
        "DEAD_LETTER_TOPIC": pipeline().dead_letters,
        "CHAT_ENDPOINT": places.url,
    }
    pace = {} if quotas else {"CHAT_WRITES_PER_SECOND": str(UNBOUND)}
    given = {"PUBLISHES_TO": step.gives} if step.gives else {}
    gemini = _gemini(places, gemini_key) if "gemini" in step.calls else {}
    return {**common, **pace, **given, **_own(step, places, most_a_minute), **gemini}


def environment_of_operators(places: Places) -> str:
    """Shell lines that point `python -m ops` at this cloud."""
    variables = {
        "GOOGLE_CLOUD_PROJECT": PROJECT,
        **places.emulators,
        "STORAGE_EMULATOR_HOST": places.url,
        "RAG_ENDPOINT": f"http://{HOST}:{places.rag}",
        "RAG_LOCATION": LOCATION,
    }
    return "".join(f"export {name}={value}\n" for name, value in variables.items())


def isolate(environ: MutableMapping[str, str]) -> None:
    """Clear the runner's own environment except for what it may use.

    Otherwise gRPC and httpx would follow the person's proxy, and the SDKs their project or emulator.
    """
    kept = {key: environ[key] for key in (*KEPT, "HOME", "TERM", "GEMINI_API_KEY") if key in environ}
    environ.clear()
    environ.update(kept, GRPC_VERBOSITY="ERROR")  # people need not see that a stand-in closes


def own_key(environ: Mapping[str, str]) -> str | None:
    """The Gemini API key that the person has set, or None."""
    return environ.get("GEMINI_API_KEY") or None


def _own(step: Row, places: Places, most_a_minute: int) -> dict[str, str]:
    if step == pipeline().first:
        # Every connection that the Chat here can be switched to. Production trusts one kind of token.
        return {
            "CHAT_AUDIENCE": f"{places.door},{PROJECT_NUMBER}",
            "CHAT_EMAIL": f"{CHAT_IDENTITY},{ADD_ON_IDENTITY}",
            "PUSH_EMAIL": PUSH_IDENTITY,
            "CHAT_CERTS_URL": f"{places.url}/certs",
            "CHAT_OWN_CERTS_URL": f"{places.url}/certs/chat",
            "QUESTIONS_PER_MINUTE": str(most_a_minute),
        }
    if "rag" in step.calls:
        return {
            "RAG_CORPUS": CORPUS,
            "RAG_ENDPOINT": f"http://{HOST}:{places.rag}",
            # The index here compares words.
            "SEARCH_KIND": "lexical",
            "SOURCE_LINKS": f'{{"{BUCKET}/": "{places.url}/knowledge/"}}',
        }
    return {}


def _gemini(places: Places, gemini_key: str | None) -> dict[str, str]:
    if gemini_key:
        return {"GEMINI_API_KEY": gemini_key}
    return {"GEMINI_API_KEY": "local", "GOOGLE_GEMINI_BASE_URL": places.url}
