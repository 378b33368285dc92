"""What docs/operations.md says: its commands run, and its table has every reason there is."""

import ast
import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.cloud.pubsub_v1 import SubscriberClient
from typer.testing import CliRunner

from local.places import PROJECT
from local.runner.connect import topic_path
from ops.case import Case
from ops.cli import COMMANDS as DEAD_COMMANDS
from ops.cli import app
from ops.errors import Exit
from ops.settings import Settings
from ops.world import World
from shared.chat.letters import letter_from_push
from shared.memory.cases import COLLECTION, case_of
from shared.pipeline import pipeline
from tests import ROOT
from tests.conftest import SmallCloud
from tests.support.factories import envelope, push

PAGE = (ROOT / "docs/operations.md").read_text()
COMMANDS = [
    line.partition("  #")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("python -m ops")
]
#: What the page names a letter and a group by.
REFERENCE, GROUP = "TW-1A2B3C4D", "1f2e3d"
RAISED = {"Permanent", "Transient", "_Unusable", "Unavailable"}


@pytest.fixture(scope="module", autouse=True)
def backup(small_cloud: SmallCloud) -> Iterator[None]:
    """The operators' own subscription to the dead letters."""
    client = SubscriberClient()
    path = client.subscription_path(PROJECT, pipeline().dead_letters_backup)
    client.create_subscription(name=path, topic=topic_path(pipeline().dead_letters), ack_deadline_seconds=60)
    yield
    client.delete_subscription(subscription=path)


@pytest.fixture
def case(small_cloud: SmallCloud, firestore: Any) -> Case:
    """The only case there is: an open one, whose asker knows."""
    for other in firestore.collection(COLLECTION).stream():
        other.reference.delete()
    headers, body = push(envelope(), "reformulate")
    letter = letter_from_push({**headers, "Dead-Letter-Step": "retrieve"}, body)
    fields = {**case_of(letter, None, datetime.now(UTC)), "told": True}
    firestore.collection(COLLECTION).document(letter.case_id).set(fields)
    return Case.read(letter.case_id, fields)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_runs(
    command: str, case: Case, firestore: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = shlex.split(command.replace(REFERENCE, case.reference).replace(GROUP, case.group))[3:]
    if "restore" in given:
        firestore.collection(COLLECTION).document(case.id).update({"state": "archived"})
    if "import" in given:
        _run("dead", "export", "gone.jsonl", case.reference)
    if "replay" in given:  # no function is running here that could answer
        given += ["--wait", "0", "--yes"]

    result = _run(*given)

    assert result.exit_code == Exit.OK, result.output


def test_the_page_shows_every_command() -> None:
    shown = {shlex.split(command)[4] for command in COMMANDS if shlex.split(command)[3] == "dead"}

    assert shown == set(DEAD_COMMANDS)


def test_every_reason_is_explained() -> None:
    explained = set(re.findall(r"`([a-z_]+)`", _table("## What each reason means")))

    assert set(_reasons()) - explained == set()


def test_every_exit_code_is_listed() -> None:
    codes = PAGE[PAGE.index("Exit codes of") :]
    listed = {int(number) for number in re.findall(r"(?:^|· |: )(\d)\b", codes, re.MULTILINE)}

    assert listed == {int(code) for code in Exit} | {2}


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments, obj=World(Settings(operator="tests")), catch_exceptions=False)


def _table(heading: str) -> str:
    return PAGE.split(heading)[1].split("\n## ")[0]


def _reasons() -> Iterator[str]:
    for folder in (*pipeline().folders, "shared"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    yield from _reason(node)


def _reason(node: ast.Call) -> Iterator[str]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in RAISED and node.args and isinstance(node.args[0], ast.Constant):
        yield str(node.args[0].value)
    services = [each.value for each in node.keywords if each.arg == "service"]
    for service in services:
        if isinstance(service, ast.Constant) and isinstance(service.value, str) and service.value:
            yield from (f"{service.value}_{kind}" for kind in ("refused", "throttled", "unavailable"))
