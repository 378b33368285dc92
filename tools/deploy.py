"""Package the functions, plan, show the plan, ask, and apply it (`make deploy`).

Arguments go to `terraform plan`: `-var project_id=my-project-123`, `-var-file=staging.tfvars`.
"""

import sys

from tools import terraform
from tools.terraform import Stopped


def main() -> int:
    """Deploy; 0 when everything is as configured, 1 when not, 130 after Ctrl-C."""
    try:
        terraform.start()
        # The zips are made while planning: their contents decide which function is deployed anew.
        if terraform.plan_and_apply(sys.argv[1:], "Deploy this?"):
            print("\nDeployed. What Chat's configuration page needs is above, under chat_configuration.")
        else:
            print("\nEverything is as configured already.")
    except Stopped as stopped:
        print(stopped, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
