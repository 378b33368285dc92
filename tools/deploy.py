"""Package the functions, plan, show the plan, ask, and apply it (`make deploy`).

Arguments go to `terraform plan`: `-var project_id=my-project-123`, `-var-file=staging.tfvars`.
"""

import sys

from tools import terraform
from tools.terraform import Stopped


def main() -> int:
    """Deploy. Returns 0 if everything is as configured, 1 if not, 130 after Ctrl-C."""
    try:
        terraform.start()
        # Terraform makes the zips while it plans. Their contents decide which functions are deployed again.
        if terraform.plan_and_apply(sys.argv[1:], "Deploy this?"):
            print("\nDeployed. The values for Chat's configuration page are above, under chat_configuration.")
        else:
            print("\nNothing to change: everything is deployed as configured.")
    except Stopped as stopped:
        print(stopped, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
