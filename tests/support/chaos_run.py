"""Chaos as its users run it."""

import subprocess
import sys

from tests import ROOT


def chaos(*options: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `python -m chaos` with these options to its end, where given with this PATH and nothing else."""
    command = [sys.executable, "-m", "chaos", *options]
    environment = None if path is None else {"PATH": path}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
