"""Rules that the configuration keeps: traps of the provider, and how it is written."""

import re
import shutil
import subprocess

from tests.support.terraform_config import FOLDER, configuration_files, needs_terraform, parsed, resources

PROVIDERS = {"google": ">= 6.20, < 8", "google-beta": ">= 6.20, < 8", "archive": ">= 2.4, < 3"}


@needs_terraform
def test_it_is_formatted() -> None:
    terraform = shutil.which("terraform")
    assert terraform
    ran = subprocess.run(
        [terraform, "fmt", "-check", "-recursive", str(FOLDER)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "")


def test_the_providers_are_bounded() -> None:
    required = parsed("versions.tf")["terraform"][0]["required_providers"][0]

    assert {name: provider["version"] for name, provider in required.items()} == PROVIDERS


def test_a_module_brings_no_provider() -> None:
    for name in configuration_files():
        if name.startswith("modules/"):
            assert "provider" not in parsed(name)


def test_what_is_many_is_a_map() -> None:
    assert [address for address, block in resources().items() if "count" in block] == []


def test_every_variable_is_explained_and_every_output_too() -> None:
    for name in configuration_files():
        for kind in ("variable", "output"):
            for part in parsed(name).get(kind, []):
                for label, block in part.items():
                    assert len(block["description"]) > 10, f"{name}: {label}"


def test_every_root_variable_that_can_be_wrong_is_validated() -> None:
    open_ended = {"delete_data", "log_content", "search_fusion"}  # yes or no
    for part in parsed("variables.tf")["variable"]:
        for label, block in part.items():
            assert "validation" in block or label in open_ended, label


def test_switching_a_deployment_off_leaves_apis_on() -> None:
    assert resources()["google_project_service.this"]["disable_on_destroy"] is False


def test_subscriptions_never_expire_and_pushes_prove_themselves() -> None:
    subscriptions = {a: block for a, block in resources().items() if "google_pubsub_subscription." in a}
    assert len(subscriptions) == 2
    for block in subscriptions.values():
        assert block["expiration_policy"][0]["ttl"] == ""
    [push] = subscriptions["module.step.google_pubsub_subscription.push"]["push_config"]
    assert push["oidc_token"][0]["audience"] == "${var.url}"
    [unwrapped] = push["dynamic"]
    assert unwrapped["no_wrapper"]["content"][0]["write_metadata"] is True


def test_the_state_holds_no_secret() -> None:
    text = "\n".join((FOLDER / name).read_text() for name in configuration_files())

    assert "google_secret_manager_secret_version" not in text
    assert not re.findall(r"secret_data|private_key|google_service_account_key", text)


def test_the_example_names_every_variable_that_a_person_sets() -> None:
    example = (FOLDER / "terraform.tfvars.example").read_text()
    named = set(re.findall(r"^(?:# )?([a-z_]+)\s+=", example, re.MULTILINE))
    variables = {label for part in parsed("variables.tf")["variable"] for label in part}

    assert named == variables - {"delete_data"}
