"""The table of docs/security.md against the configuration: who may do what, no more and no less."""

import re

from shared.pipeline import Row, pipeline
from tests import ROOT
from tests.support.terraform_config import Grant, documented, parsed, resources

#: Every resource that grants anything; a new one must be expanded below, and documented.
KNOWN = {
    "google_artifact_registry_repository_iam_member.build",
    "google_project_iam_member.build",
    "google_pubsub_topic_iam_member.chat",
    "google_pubsub_topic_iam_member.dead_lettering",
    "google_storage_bucket_iam_member.build",
    "module.step.google_cloud_run_v2_service_iam_member.invoker",
    "module.step.google_project_iam_member.run",
    "module.step.google_pubsub_subscription_iam_member.dead_lettering",
    "module.step.google_pubsub_topic_iam_member.run",
    "module.step.google_secret_manager_secret_iam_member.run",
    "module.step.google_service_account_iam_member.push",
}
#: The roles of those that have one of their own; the others' are in the table of steps.
ROLES = {
    "google_artifact_registry_repository_iam_member.build": "roles/artifactregistry.writer",
    "google_pubsub_topic_iam_member.chat": "roles/pubsub.publisher",
    "google_pubsub_topic_iam_member.dead_lettering": "roles/pubsub.publisher",
    "google_storage_bucket_iam_member.build": "roles/storage.objectViewer",
    "module.step.google_cloud_run_v2_service_iam_member.invoker": "roles/run.invoker",
    "module.step.google_pubsub_subscription_iam_member.dead_lettering": "roles/pubsub.subscriber",
    "module.step.google_pubsub_topic_iam_member.run": "roles/pubsub.publisher",
    "module.step.google_secret_manager_secret_iam_member.run": "roles/secretmanager.secretAccessor",
    "module.step.google_service_account_iam_member.push": "roles/iam.serviceAccountTokenCreator",
}
INVOKER, PUBLISHER, SUBSCRIBER = "roles/run.invoker", "roles/pubsub.publisher", "roles/pubsub.subscriber"
SIGNER, VIEWER = "roles/iam.serviceAccountTokenCreator", "roles/storage.objectViewer"


def granted() -> set[Grant]:
    """What the table of steps leads to."""
    grants = {
        ("everybody", INVOKER, "function threadwise-ingest"),
        ("Pub/Sub", PUBLISHER, "topic dead-letters"),
        ("threadwise-build", "roles/artifactregistry.writer", "repository threadwise"),
        ("threadwise-build", "roles/logging.logWriter", "the project"),
        ("threadwise-build", VIEWER, "bucket PROJECT-threadwise-source"),
        ("threadwise-build", VIEWER, "buckets gcf-v2-…"),
    }
    for row in pipeline().functions:
        grants |= _of_function(f"threadwise-{row.name}", row)
        grants |= _of_calling(row)
    return grants


def _of_function(who: str, row: Row) -> set[Grant]:
    grants = {(who, "roles/datastore.user", "the database")}
    if row.gives:
        grants.add((who, PUBLISHER, f"topic {row.gives}"))
    if row != pipeline().teller:
        grants.add((who, PUBLISHER, "topic dead-letters"))
    if "gemini" in row.calls:
        grants.add((who, "threadwise_gemini", "the project"))
    if "rag" in row.calls:
        grants.add((who, "roles/aiplatform.user", "the project of the corpus"))
    return grants


def _of_calling(row: Row) -> set[Grant]:
    grants = {("Pub/Sub", SIGNER, f"account push-{row.name}")}
    if row != pipeline().first:  # which everybody may call
        grants.add((f"push-{row.name}", INVOKER, f"function threadwise-{row.name}"))
    if row != pipeline().teller:
        grants.add(("Pub/Sub", SUBSCRIBER, f"subscription {row.subscription}"))
    return grants


def test_every_grant_is_documented_and_every_documented_grant_is_given() -> None:
    documented_ones, _ = documented()

    assert documented_ones == granted()


def test_what_the_pubsub_connection_adds_is_documented() -> None:
    _, added = documented()

    assert added == {
        ("chat-api-push@system.gserviceaccount.com", PUBLISHER, "topic chat-events"),
        ("the Workspace add-ons' agent", PUBLISHER, "topic chat-events"),
    }


def test_no_grant_is_forgotten_here() -> None:
    assert {
        address for address in resources() if "_iam_" in address and "custom_role" not in address
    } == KNOWN


def test_the_roles_are_those_of_the_table() -> None:
    found = resources()

    assert {address: found[address]["role"] for address in ROLES} == ROLES


def test_the_roles_of_steps_and_builds_are_those_of_the_table() -> None:
    main = (ROOT / "terraform/main.tf").read_text()
    builds = resources()["google_project_iam_member.build"]["for_each"]

    assert set(re.findall(r'"(roles/[\w.]+)"', main)) == {"roles/datastore.user", "roles/aiplatform.user"}
    assert {entry["role"] for entry in builds.values()} == {"roles/logging.logWriter", VIEWER}
    assert resources()["google_project_iam_custom_role.gemini"]["permissions"] == [
        "aiplatform.endpoints.predict"
    ]


def test_nobody_is_granted_a_basic_role_and_nothing_takes_rights_from_others() -> None:
    text = "\n".join(path.read_text() for path in sorted((ROOT / "terraform").rglob("*.tf")))

    assert not re.findall(r"roles/(owner|editor|viewer)\b", text)
    # Bindings and policies would remove what somebody else has granted.
    assert not re.findall(r"_iam_(binding|policy)\"", text)


def test_a_database_is_reached_by_its_own_environment_alone() -> None:
    assert "condition = local.this_database" in (ROOT / "terraform/main.tf").read_text()


#: Who each grant is given to, as the configuration says it.
BUILD, RUN = "${google_service_account.build.member}", "${google_service_account.run.member}"
PUBSUB_AGENT = "${google_project_service_identity.pubsub.member}"
MEMBERS = {
    "google_artifact_registry_repository_iam_member.build": BUILD,
    "google_project_iam_member.build": BUILD,
    "google_storage_bucket_iam_member.build": BUILD,
    "google_pubsub_topic_iam_member.chat": "${each.value}",
    "google_pubsub_topic_iam_member.dead_lettering": PUBSUB_AGENT,
    "module.step.google_cloud_run_v2_service_iam_member.invoker": "${each.value}",
    "module.step.google_project_iam_member.run": RUN,
    "module.step.google_pubsub_topic_iam_member.run": RUN,
    "module.step.google_secret_manager_secret_iam_member.run": RUN,
    "module.step.google_pubsub_subscription_iam_member.dead_lettering": "${var.pubsub_agent}",
    "module.step.google_service_account_iam_member.push": "${var.pubsub_agent}",
}


def test_every_grant_goes_to_whom_the_table_names() -> None:
    found = resources()

    assert {address: found[address]["member"] for address in KNOWN} == MEMBERS
    invokers = parsed("modules/step/main.tf")["locals"][0]["invokers"]
    assert invokers == (
        '${var.verifies_itself ? {everybody = "allUsers"} : {push = google_service_account.push.member}}'
    )


def test_a_step_gets_only_the_rights_that_its_row_asks_for() -> None:
    module = parsed("main.tf")["module"][0]["step"]

    assert module["verifies_itself"] == "${each.value.takes == local.chat_events}"
    assert module["pubsub_agent"] == PUBSUB_AGENT
    for condition, role in (('"gemini") && var.gemini_api_key_secret == null', "gemini"), ('"rag")', "rag")):
        assert f"contains(each.value.calls, {condition} ? {{{role} = " in module["roles"]
