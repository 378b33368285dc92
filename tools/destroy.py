"""Take the deployment down (`make destroy`): all but the data, or with `DATA=delete` the data, too.

What stays otherwise: the Firestore database with its expiry rules, the operators' copy of the dead letters,
topics, APIs and the role for Gemini. `make deploy` brings the rest back to them. Arguments go to
`terraform plan`.
"""

import sys

from tools import terraform
from tools.terraform import Stopped

DELETE_DATA = "--delete-data"
DATA = (
    "google_firestore_database.",
    "google_firestore_field.",
    "google_pubsub_subscription.backup",
)
#: They cost nothing, and what stays depends on them. Terraform knows that of resources only, not of their
#: instances: with one topic as a target, whatever depends on any of the topics would go. And the id of a role
#: that was deleted is taken for weeks: https://cloud.google.com/iam/docs/creating-custom-roles
FOUNDATIONS = ("data.", "google_project_service.", "google_pubsub_topic.", "google_project_iam_custom_role.")


def targets(addresses: list[str]) -> list[str]:
    """What to destroy, so that the data stays: whatever depends on a target goes with it, too."""
    kept = (*DATA, *FOUNDATIONS)
    return [address for address in addresses if not address.startswith(kept)]


def destroy(arguments: list[str], *, delete_data: bool) -> bool:
    """Plan, ask and destroy; False if there is nothing to destroy. Raises Stopped."""
    if not delete_data:
        found = targets(terraform.addresses())
        chosen = [f"-target={address}" for address in found]
        question = "Destroy this? The data stays."
        return bool(found) and terraform.plan_and_apply(["-destroy", *chosen, *arguments], question)
    unprotected = ["-var=delete_data=true", *arguments]
    terraform.plan_and_apply(
        ["-target=google_firestore_database.this", *unprotected],
        "Take the protection off the database? Nothing is deleted yet.",
    )
    question = "Destroy everything, with all conversations and dead letters, for good?"
    return terraform.plan_and_apply(["-destroy", *unprotected], question, "delete")


def main() -> int:
    """Destroy; 0 when it is done, 1 when not, 130 after Ctrl-C."""
    arguments = [argument for argument in sys.argv[1:] if argument != DELETE_DATA]
    try:
        terraform.start()
        done = destroy(arguments, delete_data=DELETE_DATA in sys.argv[1:])
    except Stopped as stopped:
        print(stopped, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print("\nDestroyed." if done else "\nThere is nothing to destroy.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
