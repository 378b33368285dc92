"""The tables of docs/security.md against what Terraform itself makes of the configuration, the cloud mocked.

Needs Terraform and the providers (`terraform init` finds them in a registry or a mirror); elsewhere
`test_terraform_iam` compares the tables with the text of the configuration.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from shared.pipeline import pipeline
from tests import ROOT
from tests.support.terraform_config import CORPUS, FOLDER, PROJECT, PROJECT_NUMBER, Grant, documented

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

GRANTED, ADDED = documented()
OF_PROJECT = f"@{PROJECT}.iam.gserviceaccount.com"
PUBSUB_AGENT = f"serviceAccount:service-{PROJECT_NUMBER}@gcp-sa-pubsub.iam.gserviceaccount.com"
ADD_ONS_AGENT = f"serviceAccount:service-{PROJECT_NUMBER}@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"
GEMINI = f"projects/{PROJECT}/roles/threadwise_gemini"
RUNS: dict[str, dict[str, str]] = {
    "over_http": {},
    "classic": {"chat_connection": "pubsub"},
    "add_on": {"chat_connection": "pubsub", "chat_app": "add_on"},
}
State = dict[str, list[dict[str, Any]]]


def written() -> str:
    """A test that applies each of RUNS to a mocked cloud, in which every identity has a name of its own."""
    mocked = [
        overridden(
            f'module.step["{step.name}"].google_service_account.{kind}', **identity(f"{owner}-{step.name}")
        )
        for step in pipeline().functions
        for kind, owner in (("run", "threadwise"), ("push", "push"))
    ]
    mocked.append(overridden("google_service_account.build", **identity("threadwise-build")))
    mocked.append(overridden("google_project_service_identity.pubsub", member=PUBSUB_AGENT))
    mocked.append(overridden("google_project_iam_custom_role.gemini", id=GEMINI))
    mocked.append(overridden("data.google_project.this", "override_data", number=PROJECT_NUMBER))
    runs = [f'run "{name}" {{\n  variables {{\n{assigned(given)}  }}\n}}' for name, given in RUNS.items()]
    given = assigned({"project_id": PROJECT, "rag_corpus": CORPUS})
    return "\n".join(
        [
            'mock_provider "google" {}',
            'mock_provider "google-beta" {}',
            *mocked,
            f"variables {{\n{given}}}",
            *runs,
        ]
    )


def identity(account: str) -> dict[str, str]:
    email = f"{account}{OF_PROJECT}"
    return {"member": f"serviceAccount:{email}", "name": email}


def overridden(target: str, block: str = "override_resource", **values: str) -> str:
    return f"{block} {{\n  target = {target}\n  values = {{\n{assigned(values)}  }}\n}}"


def assigned(values: dict[str, str]) -> str:
    return "".join(f"    {name} = {json.dumps(value)}\n" for name, value in values.items())


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, State]]:
    """What is there after each of RUNS: kind of resource → the resources' values."""
    if shutil.which("terraform") is None:
        pytest.skip("terraform is not installed here")
    root = tmp_path_factory.mktemp("root")
    for source in (*sorted(ROOT.glob("*_fn")), ROOT / "shared"):
        (root / source.name).symlink_to(source)
    folder = root / "terraform"
    shutil.copytree(
        FOLDER,
        folder,
        ignore=shutil.ignore_patterns(".terraform*", "*.tfvars", "*.tfstate*", "build", "tests"),
    )
    (folder / "tests").mkdir()
    (folder / "tests/grants.tftest.hcl").write_text(written())
    terraform = partial(subprocess.run, cwd=folder, capture_output=True, text=True, timeout=500, check=False)
    started = terraform(["terraform", "init", "-backend=false", "-input=false"])
    if started.returncode != 0 and "Failed to query available provider packages" in started.stderr:
        pytest.skip("terraform init reaches no provider registry here")
    assert started.returncode == 0, started.stderr
    ran = terraform(["terraform", "test", "-json", "-verbose"])
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr
    messages = [json.loads(line) for line in ran.stdout.splitlines()]
    yield {
        message["@testrun"]: by_kind(message["test_state"]["root_module"])
        for message in messages
        if message["type"] == "test_state"
    }


def by_kind(module: dict[str, Any]) -> State:
    found: State = {}
    for each in module.get("resources", []):
        found.setdefault(each["type"], []).append(each["values"])
    for child in module.get("child_modules", []):
        for kind, values in by_kind(child).items():
            found.setdefault(kind, []).extend(values)
    return found


CONDITIONS = {
    f'resource.name == "projects/{PROJECT}/databases/(default)"': "the database",
    'resource.name.startsWith("projects/_/buckets/gcf-v2-")': "buckets gcf-v2-…",
}
WHO = {"allUsers": "everybody", PUBSUB_AGENT: "Pub/Sub", ADD_ONS_AGENT: "the Workspace add-ons' agent"}


def who(member: str) -> str:
    """As the table names it."""
    return WHO.get(member, member.removeprefix("serviceAccount:").removesuffix(OF_PROJECT))


def of_project(grant: dict[str, Any]) -> str:
    """What of the project: the condition narrows it."""
    if grant["condition"]:
        return CONDITIONS[grant["condition"][0]["expression"]]
    owner = CORPUS.split("/")[1]
    assert grant["project"] in {PROJECT, owner}
    return "the project of the corpus" if grant["role"] == "roles/aiplatform.user" else "the project"


#: Kind of grant → what it is on.
ON: dict[str, Callable[[dict[str, Any]], str]] = {
    "google_artifact_registry_repository_iam_member": lambda grant: "repository threadwise",
    "google_cloud_run_v2_service_iam_member": lambda grant: f"function {grant['name']}",
    "google_project_iam_member": of_project,
    "google_pubsub_subscription_iam_member": lambda grant: f"subscription {grant['subscription']}",
    "google_pubsub_topic_iam_member": lambda grant: f"topic {grant['topic']}",
    "google_secret_manager_secret_iam_member": lambda grant: f"secret {grant['secret_id']}",
    "google_service_account_iam_member": lambda grant: f"account {who(grant['service_account_id'])}",
    "google_storage_bucket_iam_member": lambda grant: f"bucket {grant['bucket'].replace(PROJECT, 'PROJECT')}",
}


def granted(state: State) -> set[Grant]:
    """Every grant that Terraform makes. Raises KeyError for a kind or a condition that is not known here."""
    kinds = [kind for kind in state if "_iam_" in kind and not kind.endswith("_custom_role")]
    return {
        (
            who(grant["member"]),
            "threadwise_gemini" if grant["role"] == GEMINI else grant["role"],
            ON[kind](grant),
        )
        for kind in kinds
        for grant in state[kind]
    }


def test_what_is_granted_is_the_table(states: dict[str, State]) -> None:
    assert granted(states["over_http"]) == GRANTED


@pytest.mark.parametrize("connection", ["classic", "add_on"])
def test_over_pubsub_one_publisher_is_added(states: dict[str, State], connection: str) -> None:
    of_chat = granted(states[connection]) - GRANTED

    assert len(of_chat) == 1
    assert of_chat <= ADDED
    assert granted(states[connection]) >= GRANTED


def test_both_kinds_of_chat_app_are_in_the_table(states: dict[str, State]) -> None:
    assert (granted(states["classic"]) | granted(states["add_on"])) - GRANTED == ADDED


def test_the_role_for_gemini_has_one_permission(states: dict[str, State]) -> None:
    [role] = states["over_http"]["google_project_iam_custom_role"]

    assert role["permissions"] == ["aiplatform.endpoints.predict"]
