"""Run all checks and tests and report every failure at the end (`make test`)."""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Check = tuple[str, ...]
#: Quick checks come first. At its end, pytest says which tests it skipped, and why.
CHECKS: tuple[Check, ...] = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    # Six at a time, also on two cores, because the slow tests spend most of their time waiting for deadlines
    # and processes. pytest keeps the order of tests/conftest.py: each of the longest tests has its own file.
    ("pytest", "-n", "6", "--dist", "loadfile", "--no-loadscope-reorder"),
)
#: mypy needs one core for most of a minute. It runs beside the tests, which often leave a core free.
BESIDE: tuple[Check, ...] = (("mypy",),)


def command(check: Check) -> list[str]:
    """The command line of a check."""
    return [sys.executable, "-m", *check]


def passes(check: Check) -> bool:
    """Run one check with its output on the terminal. Returns whether it passed."""
    print(f"\n== {' '.join(check)}", flush=True)
    started = time.monotonic()
    passed = subprocess.run(command(check), cwd=ROOT, check=False).returncode == 0
    print(f"== {' '.join(check)}: {_outcome(passed=passed)} ({time.monotonic() - started:.0f} s)", flush=True)
    return passed


def failures(checks: tuple[Check, ...], beside: tuple[Check, ...] = ()) -> list[str]:
    """Run all checks, even if some fail, and return the titles of the failed ones.

    The checks in `beside` run at the same time. Their output is printed after that of the others.
    """
    running = {
        check: subprocess.Popen(
            command(check), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for check in beside
    }
    try:
        failed = [" ".join(check) for check in checks if not passes(check)]
        for check, process in running.items():
            output, _ = process.communicate()
            passed = process.returncode == 0
            print(
                f"\n== {' '.join(check)}\n{output}== {' '.join(check)}: {_outcome(passed=passed)}", flush=True
            )
            failed += [] if passed else [" ".join(check)]
        return failed
    finally:
        for process in running.values():
            process.kill()


def _outcome(*, passed: bool) -> str:
    return "passed" if passed else "FAILED"


def main() -> int:
    """Run all checks; 0 if all passed, else 1, or 130 after Ctrl-C."""
    try:
        failed = failures(CHECKS, BESIDE)
    except KeyboardInterrupt:
        return 130
    print(f"\nFailed: {', '.join(failed)}" if failed else "\nAll checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
