"""Prepare `.venv`: `python3 tools/setup.py run` (for `make run`) or `test` (the same and the test tools).

This file only finds a suitable Python and runs `tools.prepare` on it. The system's `python3` may be old while
a newer one is installed, too. So any Python since 2.7 can read this file; it uses type comments and os.path.
"""
# ruff: noqa: PTH100, PTH118, PTH120

import os
import subprocess
import sys

SUITABLE = ((3, 11), (3, 12), (3, 13))
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: Tried in this order: first the Python of `.venv`, so that a second setup is fast. Then the newest, which is
#: also the deployed one.
CANDIDATES = (
    os.path.join(ROOT, ".venv", "bin", "python"),
    "python3.13", "python3.12", "python3.11", "python3", "python", sys.executable,
)  # fmt: skip
PROBE = "import sys; sys.exit(sys.version_info[:2] not in " + repr(SUITABLE) + ")"
HOW_TO_GET_ONE = """Install one, for example
  Debian, Ubuntu:  sudo apt-get install python3 python3-venv
  macOS:           brew install python@3.13
  elsewhere:       https://www.python.org/downloads/
then run this again. PYTHON=/path/to/python3 picks one that is not on PATH."""


def fits(python):
    # type: (str) -> bool
    """Whether this interpreter (a path, or a name on PATH) starts and is a Python that threadwise runs on."""
    try:
        process = subprocess.Popen([python, "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError:
        return False
    process.communicate()
    return process.returncode == 0


def choose(candidates):
    # type: (tuple[str, ...]) -> str
    """The first of the interpreters that fits; empty if none does."""
    for python in candidates:
        if fits(python):
            return python
    return ""


def refusal(asked):
    # type: (str) -> str
    """The error message if no Python is suitable."""
    if asked:
        return "PYTHON=" + asked + " is not a Python 3.11, 3.12 or 3.13 that starts. Set another or none."
    version = ".".join(str(part) for part in sys.version_info[:3])
    found = "threadwise needs Python 3.11, 3.12 or 3.13. Found only " + version + " (" + sys.executable + ")."
    return found + "\n" + HOW_TO_GET_ONE


def main():
    # type: () -> None
    """Replace this process with `tools.prepare` on the interpreter found. Exits with 1 if there is none."""
    if sys.platform == "win32":
        sys.exit("threadwise does not run on Windows itself. Use the Windows Subsystem for Linux (WSL).")
    asked = os.environ.get("PYTHON", "")
    python = choose((asked,) if asked else CANDIDATES)
    if not python:
        sys.exit(refusal(asked))
    if os.sep in python:
        python = os.path.abspath(python)
    os.chdir(ROOT)
    command = [python, "-m", "tools.prepare"]
    command.extend(sys.argv[1:])
    os.execvp(python, command)  # noqa: S606


if __name__ == "__main__":
    main()
