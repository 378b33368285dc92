"""Run all checks and tests and report every failure at the end (`make test`)."""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The quick ones first. pytest says at its end which tests it skipped, and why.
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    # Two at a time: much of what the tests do is waiting for deadlines and processes. In their own order: the
    # files with the fewest tests have the longest ones, which should not be the last to start.
    ("pytest", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"),
)


def passes(check: tuple[str, ...]) -> bool:
    """Run one check, its output on the terminal, and tell whether it passed."""
    title = " ".join(check)
    print(f"\n== {title}", flush=True)
    started = time.monotonic()
    passed = subprocess.run([sys.executable, "-m", *check], cwd=ROOT, check=False).returncode == 0
    print(f"== {title}: {'passed' if passed else 'FAILED'} ({time.monotonic() - started:.0f} s)", flush=True)
    return passed


def failures(checks: tuple[tuple[str, ...], ...]) -> list[str]:
    """Run every check, whether or not another failed, and return the titles of those that did."""
    return [" ".join(check) for check in checks if not passes(check)]


def main() -> int:
    """Run all checks; 0 if all passed, else 1, or 130 after Ctrl-C."""
    try:
        failed = failures(CHECKS)
    except KeyboardInterrupt:
        return 130
    print(f"\nFailed: {', '.join(failed)}" if failed else "\nAll checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
