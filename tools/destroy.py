"""Take the deployment down (`make destroy`). The data stays, unless `DATA=delete` is given.

The Firestore database with its expiry rules, the operators' copy of the dead letters, topics, APIs and the
role for Gemini stay. `make deploy` adds everything else again. Arguments go to `terraform plan`.
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
#: These stay, because they cost nothing and the data depends on them. Terraform knows dependencies between
#: resources, not between instances: with one topic as a target, it would destroy what depends on any topic.
#: Google reserves the id of a deleted role for weeks: https://cloud.google.com/iam/docs/creating-custom-roles
FOUNDATIONS = ("data.", "google_project_service.", "google_pubsub_topic.", "google_project_iam_custom_role.")


def targets(addresses: list[str]) -> list[str]:
    """The addresses to destroy so that the data stays. Terraform also destroys whatever depends on them."""
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
    """Destroy. Returns 0 if it is done, 1 if not, 130 after Ctrl-C."""
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
