"""The configuration reads the table of the pipeline, and names in the cloud are those of the local cloud."""

import json
import re
from dataclasses import asdict
from typing import Any

import pytest

from shared.pipeline import pipeline
from tests import ROOT
from tests.support.terraform_config import FOLDER, evaluated, local, needs_terraform, resources


def test_the_table_is_the_file_that_the_code_reads() -> None:
    assert local("pipeline") == '${jsondecode(file("${local.repository}/shared/pipeline.json"))}'


@needs_terraform
@pytest.mark.slow
def test_terraform_makes_of_the_table_what_the_code_makes_of_it() -> None:
    made = evaluated("steps")

    assert list(made) == sorted(row.name for row in pipeline().functions)
    for row in pipeline().functions:
        expected = {**json.loads(json.dumps(asdict(row))), "environment": made[row.name]["environment"]}
        assert made[row.name] == expected


def test_only_a_function_of_the_table_has_settings_of_its_own() -> None:
    assert set(local("own_settings")) <= {row.name for row in pipeline().functions}


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
    subscriptions = {row.name: row.subscription for row in pipeline().functions}

    assert set(evaluated("topics").values()) == set(pipeline().topics)
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
