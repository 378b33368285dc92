"""`make deploy` and `make destroy`, with a stand-in for `terraform` that records what it is asked."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.terraform_config import resources
from tools import destroy
from tools.terraform import ROOT

STAND_IN = """#!/usr/bin/env python3
import os, sys
command = [argument for argument in sys.argv[1:] if not argument.startswith("-chdir=")]
with open(os.environ["RECORDED"], "a") as recorded:
    recorded.write(" ".join(command) + chr(10))
if command[:2] == ["state", "list"]:
    print(os.environ["STATE"])
sys.exit(int(os.environ.get("STATUS_" + command[0].upper(), 0)))
"""
STATE = [
    "data.google_project.this",
    'google_project_service.this["run.googleapis.com"]',
    "google_firestore_database.this",
    'google_firestore_field.expiry["chat_threads"]',
    "google_pubsub_subscription.backup",
    'google_pubsub_topic.this["dead-letters"]',
    'google_pubsub_topic.this["questions"]',
    "google_project_iam_custom_role.gemini",
    'module.step["answer"].google_cloudfunctions2_function.this',
    "google_storage_bucket.source",
]
GOES = [
    'module.step["answer"].google_cloudfunctions2_function.this',
    "google_storage_bucket.source",
]


@dataclass
class Ran:
    """What became of a tool, and the commands that Terraform was given."""

    status: int
    output: str
    commands: list[str]

    def command(self, name: str) -> list[str]:
        return [command for command in self.commands if command.split()[0] == name]


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Run a tool with arguments and what a person types."""
    terraform = tmp_path / "bin" / "terraform"
    terraform.parent.mkdir()
    terraform.write_text(STAND_IN)
    terraform.chmod(0o755)
    recorded = tmp_path / "recorded"
    recorded.touch()

    def run_tool(tool: str, *arguments: str, typed: str = "", **environment: str) -> Ran:
        ran = subprocess.run(
            [sys.executable, "-m", f"tools.{tool}", *arguments], input=typed, cwd=ROOT,
            env={
                "PATH": f"{terraform.parent}:{os.environ['PATH']}", "RECORDED": str(recorded),
                "STATE": "\n".join(STATE), "STATUS_PLAN": "2", **environment,
            },
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout + ran.stderr, recorded.read_text().splitlines())

    return run_tool


def test_a_deployment_is_planned_shown_and_applied_when_it_is_agreed_to(run: Any) -> None:
    ran = run("deploy", "-var", "project_id=p", typed="yes\n")

    assert ran.status == 0
    assert [command.split()[0] for command in ran.commands] == ["init", "plan", "apply"]
    [plan], [apply] = ran.command("plan"), ran.command("apply")
    assert plan.endswith("-var project_id=p")
    assert "-out=build/threadwise.tfplan" in plan
    assert apply.endswith("build/threadwise.tfplan")  # just that plan, and not a new one


@pytest.mark.parametrize("typed", ["", "no\n", "y\n"])
def test_nothing_is_applied_unless_it_is_agreed_to(run: Any, typed: str) -> None:
    for tool in ("deploy", "destroy"):
        ran = run(tool, typed=typed)
        assert ran.status == 1
        assert "Nothing was changed" in ran.output
        assert ran.command("apply") == []


def test_nobody_is_asked_when_nothing_would_change(run: Any) -> None:
    ran = run("deploy", STATUS_PLAN="0")

    assert ran.status == 0
    assert "deployed as configured" in ran.output
    assert ran.command("apply") == []


def test_a_plan_that_fails_ends_it(run: Any) -> None:
    ran = run("deploy", typed="yes\n", STATUS_PLAN="1")

    assert ran.status == 1
    assert "terraform plan failed" in ran.output
    assert "Traceback" not in ran.output
    assert ran.command("apply") == []


def test_destroying_keeps_the_data(run: Any) -> None:
    ran = run("destroy", typed="yes\n")

    [plan] = ran.command("plan")
    assert "-destroy" in plan.split()
    assert [part.removeprefix("-target=") for part in plan.split() if part.startswith("-target=")] == GOES
    assert "delete_data" not in plan


def test_data_is_deleted_only_when_told_and_only_after_the_word_for_it(run: Any) -> None:
    ran = run("destroy", "--delete-data", typed="yes\nyes\n")
    assert ran.status == 1
    assert len(ran.command("apply")) == 1  # the protection is off, and nothing else has happened

    ran = run("destroy", "--delete-data", typed="yes\ndelete\n")
    assert ran.status == 0
    unprotect, everything = ran.command("plan")[-2:]
    assert "-target=google_firestore_database.this" in unprotect
    assert "-destroy" not in unprotect.split()
    assert "-destroy" in everything.split()
    assert "-target" not in everything
    assert all("-var=delete_data=true" in plan for plan in (unprotect, everything))


def test_what_stays_depends_on_nothing_that_goes() -> None:
    """Terraform destroys what depends on a target with it."""
    kept = (*destroy.DATA, *destroy.FOUNDATIONS)
    staying = {address: block for address, block in resources().items() if f"{address}.".startswith(kept)}

    assert len(staying) == 6
    for address, block in staying.items():
        needed = set(re.findall(r"(?<![\w.])(?:module\.\w+|google_\w+\.\w+)", json.dumps(block)))
        assert [other for other in needed if not f"{other}.".startswith(kept)] == [], address


def test_without_terraform_it_says_where_to_get_it(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tools.deploy"], cwd=ROOT, env={"PATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ran.returncode == 1
    assert "developer.hashicorp.com" in ran.stderr
