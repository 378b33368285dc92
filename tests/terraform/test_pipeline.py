"""Names and times in the cloud are those of the code and of the local cloud."""

import re
from typing import Any

import pytest
from local.runner.pipeline import BACKUP, DEAD_LETTERS, DELIVERY_ATTEMPTS, FUNCTIONS, TOPICS

from local.runner import pipeline
from tests import ROOT
from tests.pipeline.test_deadlines import LONGEST_CALL, step_seconds
from tests.support.terraform_config import FOLDER, evaluated, local, needs_terraform, resources, steps


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_step_takes_and_gives_as_in_the_local_cloud(function: pipeline.Step) -> None:
    step = steps()[function.name]

    assert step["gives"] == function.gives
    assert f"{step['function']}/main.py" == function.source
    assert step["entry_point"] == function.entry_point
    takes = {f"${{local.{name}}}": local(name) for name in ("chat_events", "dead_letters")}
    assert takes.get(step["takes"], step["takes"]) == function.takes


def test_the_dead_letters_and_their_copies_have_the_same_names() -> None:
    assert local("dead_letters") == DEAD_LETTERS
    assert local("backup") == BACKUP
    assert local("delivery_attempts") == DELIVERY_ATTEMPTS
    assert steps()["tell"]["takes"] == "${local.dead_letters}"


@pytest.mark.parametrize("name", steps())
def test_deadlines_nest(name: str) -> None:
    step = steps()[name]

    assert LONGEST_CALL[name] < step["step_seconds"] == step_seconds(name)
    assert step["step_seconds"] < step["timeout"] < step["ack_deadline"] <= 600


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_message_comes_again_after_the_same_time_as_in_the_local_cloud(function: pipeline.Step) -> None:
    if function.takes is not None:
        assert steps()[function.name]["ack_deadline"] == function.ack_deadline


def test_every_time_is_in_the_documentation() -> None:
    page = (ROOT / "docs/reliability.md").read_text()

    for name, step in steps().items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |") and " s" in line)
        for time in ("step_seconds", "timeout", "ack_deadline"):
            assert f"{step[time]} s" in row, f"{name}: {time}"


def test_a_function_takes_as_many_requests_as_it_has_threads() -> None:
    assert "THREADS = tostring(it.concurrency)" in re.sub(r" +", " ", local("environments"))


def test_every_collection_that_expires_has_its_ttl() -> None:
    written = {name for path in sources() for name in expiring_collections(path.read_text())}

    assert set(local("expiring_collections")) == written


def test_terraform_s_own_test_names_every_collection_that_expires() -> None:
    text = (FOLDER / "tests/pipeline.tftest.hcl").read_text()
    [named] = re.findall(r"keys\(google_firestore_field\.expiry\)\) == toset\(\[([^\]]*)\]", text)

    assert set(re.findall(r'"(\w+)"', named)) == set(local("expiring_collections"))


def test_the_ttl_sits_on_the_field_that_the_code_writes() -> None:
    field = resources()["google_firestore_field.expiry"]

    assert field["field"] == "${local.expiry_field}"
    assert "ttl_config" in field
    assert f'"{local("expiry_field")}": expiry(' in (ROOT / "shared/memory/records.py").read_text()


@needs_terraform
@pytest.mark.slow
def test_the_names_in_the_cloud_are_the_local_ones() -> None:
    subscriptions = {f.name: f.subscription for f in FUNCTIONS if f.takes}

    assert set(evaluated("topics").values()) == set(TOPICS)
    assert evaluated("subscriptions") == subscriptions


@needs_terraform
@pytest.mark.slow
def test_a_prefix_is_on_every_name() -> None:
    for table in ("topics", "subscriptions", "functions", "push_identities"):
        values: dict[str, Any] = evaluated(table, name_prefix="staging", chat_connection="pubsub")
        assert all(value.startswith("staging-") for value in values.values()), table


def sources() -> list[Any]:
    """Every module of the product that could write documents."""
    folders = [*sorted(ROOT.glob("*_fn")), ROOT / "shared", ROOT / "ops"]
    return [path for folder in folders for path in sorted(folder.rglob("*.py"))]


def expiring_collections(source: str) -> list[str]:
    """The collection of a module that writes `expired_at`."""
    if '"expired_at"' not in source:
        return []
    return re.findall(r'^COLLECTION\b[^=]*= "([a-z_]+)"', source, re.MULTILINE)
