"""Run Terraform on `terraform/`, after the user has said yes (`make deploy`, `make destroy`)."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "terraform"
#: The file of the plan that is shown and then applied. It is relative to the configuration, and not in git.
PLAN = "build/threadwise.tfplan"
NO_CHANGES, CHANGES = 0, 2


class Stopped(Exception):
    """The work stops. The message tells the user why."""


def start() -> None:
    """Check that Terraform is there, and fetch its providers. Raises Stopped."""
    if shutil.which("terraform") is None:
        raise Stopped("terraform is not installed: https://developer.hashicorp.com/terraform/install")
    (FOLDER / PLAN).parent.mkdir(exist_ok=True)
    run("init", "-input=false")


def run(command: str, *arguments: str, expected: tuple[int, ...] = (0,)) -> int:
    """Run one command with its output on the terminal. Raises Stopped if its exit code is not expected."""
    status = subprocess.run(["terraform", f"-chdir={FOLDER}", command, *arguments], check=False).returncode
    if status not in expected:
        raise Stopped(f"terraform {command} failed. Nothing was done after it.")
    return status


def addresses() -> list[str]:
    """The addresses of all resources in the state. Raises Stopped."""
    listed = subprocess.run(
        ["terraform", f"-chdir={FOLDER}", "state", "list"], capture_output=True, text=True, check=False
    )
    if listed.returncode and "No state file" not in listed.stderr:
        raise Stopped(f"The state cannot be read: {listed.stderr.strip()}")
    return listed.stdout.split()


def plan_and_apply(arguments: list[str], question: str, answer: str = "yes") -> bool:
    """Show the plan, ask, and apply exactly this plan. False if there is nothing to do. Raises Stopped."""
    plan = ("-input=false", "-detailed-exitcode", f"-out={PLAN}", *arguments)
    if run("plan", *plan, expected=(NO_CHANGES, CHANGES)) == NO_CHANGES:
        return False
    print(f"\n{question} Type {answer} to continue: ", end="", flush=True)
    try:
        typed = input()
    except EOFError:
        typed = ""
    if typed.strip() != answer:
        raise Stopped("Nothing was changed.")
    run("apply", "-input=false", PLAN)
    return True
