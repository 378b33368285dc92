"""threadwise on one machine: `python -m local` serves the chat page, `python -m local ask` asks."""

import importlib.util
import os
import sys
from pathlib import Path

VENV = Path(__file__).resolve().parents[1] / ".venv"


def enter_venv() -> None:
    """Start again with .venv's Python if the packages are missing here. Ends the process if there is none."""
    if importlib.util.find_spec("typer") and importlib.util.find_spec("grpc"):
        return
    python = next(filter(Path.exists, (VENV / "bin" / "python", VENV / "Scripts" / "python.exe")), None)
    if python is None or Path(sys.prefix) == VENV:
        sys.exit("threadwise is not set up here yet. Run: make setup")
    os.execv(python, [str(python), "-m", "local", *sys.argv[1:]])  # noqa: S606 - our own interpreter


if __name__ == "__main__":
    enter_venv()
    from local.runner.cli import app

    app(prog_name="python -m local")
