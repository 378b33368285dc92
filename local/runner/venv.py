"""`python -m local` with any Python: it goes on in the project's own environment."""

import importlib.util
import os
import sys
from pathlib import Path

VENV = Path(__file__).resolve().parents[2] / ".venv"


def enter() -> None:
    """Start again with .venv's Python where the packages are missing. Ends the process when there is none."""
    if importlib.util.find_spec("typer") and importlib.util.find_spec("grpc"):
        return
    python = next(filter(Path.exists, (VENV / "bin" / "python", VENV / "Scripts" / "python.exe")), None)
    if python is None or Path(sys.prefix) == VENV:
        sys.exit("threadwise is not set up here yet. Run: make setup")
    os.execv(python, [str(python), "-m", "local", *sys.argv[1:]])  # noqa: S606 - our own interpreter
