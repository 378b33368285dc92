"""Errors say what to do, each kind has its exit code, and no raw exception reaches a person."""

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from local.places import free_port
from ops.cli import COMMANDS
from ops.errors import Exit
from tests.conftest import SmallCloud
from tests.support.operating import Desk, finished, letter, ran, started

pytest_plugins = ["tests.support.ops_fixtures"]

NO_TOKEN = "Getting metadata from plugin failed with error: ('invalid_grant: Bad Request', {})"


class Refusing(grpc.GenericRpcHandler):
    """Answers every call with one status, as Google does to who may not."""

    def __init__(self, status: grpc.StatusCode, text: str) -> None:
        self._status, self._text = status, text

    def service(self, handler_call_details: Any) -> Any:
        """The handler of any method."""

        def refuse(_request: Any, context: Any) -> None:
            context.abort(self._status, self._text)

        return grpc.unary_unary_rpc_method_handler(refuse)


@contextmanager
def refusing(status: grpc.StatusCode, text: str) -> Iterator[str]:
    """A server that refuses everything; its address."""
    server = grpc.server(ThreadPoolExecutor(2), handlers=[Refusing(status, text)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


@pytest.mark.parametrize(
    ("status", "text", "code", "said"),
    [
        ("PERMISSION_DENIED", "Missing or insufficient permissions.", 8, "You need roles/datastore.user"),
        (
            "UNAUTHENTICATED",
            "Request had invalid credentials",
            7,
            "Sign in: gcloud auth application-default login",
        ),
        ("UNAVAILABLE", NO_TOKEN, 7, "Sign in: gcloud auth application-default login"),
        (
            "NOT_FOUND",
            "The database (default) does not exist for project x",
            4,
            "does not exist for project x",
        ),
        ("UNAVAILABLE", "connection refused", 9, "does not answer"),
        ("INTERNAL", "boom\nsecond \x1b[2J line", 1, "boom"),
    ],
)
def test_what_google_refuses_is_explained(
    small_cloud: SmallCloud, monkeypatch: pytest.MonkeyPatch, status: str, text: str, code: int, said: str
) -> None:
    with refusing(grpc.StatusCode[status], text) as address:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", address)
        for command in (["dead", "list"], ["dead", "show", "TW-1A2B3C4D"], ["audit"], ["dead", "show", "a"]):
            run = ran(*command)

            assert (run.code, said in run.err) == (code, True), run.err
            assert run.out == ""
            assert len(run.err.splitlines()) == 1


def test_a_topic_that_may_not_be_written_to_is_explained(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = letter()
    desk.stored(kept)
    with refusing(grpc.StatusCode.PERMISSION_DENIED, "User not authorized") as address:
        monkeypatch.setenv("PUBSUB_EMULATOR_HOST", address)

        run = ran("dead", "replay", kept.case_id, "--wait", "0")

    assert run.code == 8
    assert "roles/pubsub.publisher" in run.err
    assert "failed (pubsub_refused: 403 PermissionDenied)" in run.out
    assert (desk.case(kept)["state"], desk.case(kept)["claim"]) == ("open", None)


def test_nobody_there_is_said_at_once(small_cloud: SmallCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", f"127.0.0.1:{free_port()}")

    run = ran("dead", "groups")

    assert run.code == 9
    assert "project threadwise-local, database (default) does not answer" in run.err
    assert "Run the same command again" in run.err


def test_half_an_emulator_is_refused(small_cloud: SmallCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUBSUB_EMULATOR_HOST")

    run = ran("dead", "replay", "--all", "--yes")

    assert run.code == 5
    assert "FIRESTORE_EMULATOR_HOST is set and PUBSUB_EMULATOR_HOST is not" in run.err


def test_what_can_be_no_project_is_refused(desk: Desk) -> None:
    run = ran("--project", "bad project!", "dead", "list")

    assert run.code == 5
    assert "GOOGLE_CLOUD_PROJECT" in run.err


@pytest.mark.slow
def test_who_is_not_signed_in_is_told_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRESTORE_EMULATOR_HOST", "PUBSUB_EMULATOR_HOST", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "")
    nobody = {"HOME": str(tmp_path), "CLOUDSDK_CONFIG": str(tmp_path), "NO_GCE_CHECK": "true"}

    without, given = (
        finished(started(*words, environment=nobody))
        for words in (["dead", "list"], ["--project", "my-project", "dead", "list"])
    )

    assert (without.code, given.code) == (7, 7)
    assert "Which project? Pass --project NAME" in without.err
    assert "Google Cloud does not know who you are. Sign in:" in given.err
    assert "Traceback" not in without.err + given.err


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("STALE_HOURS", "soon", "STALE_HOURS"),
        ("STALE_HOURS", "inf", "STALE_HOURS"),
        ("OPERATOR", "", "OPERATOR"),
        ("NAME_PREFIX", "Not OK", "NAME_PREFIX"),
    ],
)
def test_a_wrong_setting_is_named(
    small_cloud: SmallCloud, monkeypatch: Any, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)

    run = ran("dead", "list")

    assert run.code == 5
    assert f"A setting is wrong: {said}" in run.err


@pytest.mark.slow
def test_a_wrong_setting_is_named_by_a_real_process_too(small_cloud: SmallCloud) -> None:
    run = finished(started("dead", "list", environment={"STALE_HOURS": "soon"}))

    assert run.code == 5
    assert run.err.startswith("A setting is wrong: STALE_HOURS")
    assert "Traceback" not in run.err


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "list --nonsense",
        "list --limit 0",
        "list --limit x",
        "list --page -1",
        "list --older yesterday",
        "list --older -1h",
        "list --state x",
        "show",
        "export",
        "replay --all --rate 0",
        "replay --all --from ingest",
        "replay --all --stop-at 2",
        "watch --every 9999999d",
    ],
)
def test_a_wrong_command_line_is_2(small_cloud: SmallCloud, line: str) -> None:
    run = ran("dead", *line.split())

    assert run.code == 2
    assert "Usage:" in run.err
    assert "Traceback" not in run.err


@pytest.mark.parametrize("command", [["audit"], *(["dead", name] for name in COMMANDS)])
def test_help_has_worked_examples_that_are_command_lines(command: list[str]) -> None:
    said = ran(*command, "--help").out
    examples = re.findall(r"python -m ops (.+)", said)

    assert examples
    assert max(map(len, said.splitlines())) <= 80
    for example in examples:
        assert example.startswith(" ".join(command))


def test_the_exit_codes_are_in_the_help() -> None:
    said = " ".join(ran("--help").out.split())

    for code in Exit:
        assert code <= 2 or f"{code.value} {code.name.lower().replace('_', ' ')}" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "code", "state"), [("n\n", 6, "open"), ("\x04", 6, "open"), ("y\n", 0, "archived")]
)
def test_a_person_at_a_terminal_is_asked(desk: Desk, typed: str, code: int, state: str) -> None:
    kept = [letter(), letter()]
    for each in kept:
        desk.stored(each)
    keyboard, terminal = os.openpty()

    process = started("dead", "archive", "--step", "answer", stdin=terminal)
    os.write(keyboard, typed.encode())
    run = finished(process)

    os.close(terminal)
    os.close(keyboard)
    assert run.code == code
    assert "Archive 2 dead letters (step=answer state=open)?" in run.err
    assert {desk.case(each)["state"] for each in kept} == {state}
