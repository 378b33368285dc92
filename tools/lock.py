"""Compile every `requirements.in` into the pinned `requirements.txt` beside it (`make lock`).

The runtime set is compiled first and constrains the others, so that a function never ships a
version that `make run` and `make test` did not use.
"""

import subprocess
import sys
from pathlib import Path

from shared.pipeline import pipeline

ROOT = Path(__file__).resolve().parent.parent
RUNTIME = "local"
OTHERS = ("ops", "tests")


def compile_folder(folder: str, *constraints: str) -> None:
    """Write `<folder>/requirements.txt` for Python 3.11 to 3.13 on any system, without any index line."""
    command = [
        sys.executable, "-m", "uv", "pip", "compile", f"{folder}/requirements.in",
        "--output-file", f"{folder}/requirements.txt",
        "--universal", "--python-version", "3.11",
        "--no-annotate", "--quiet", "--custom-compile-command", "make lock",
    ]  # fmt: skip
    for constraint in constraints:
        command += ["--constraint", constraint]
    subprocess.run(command, cwd=ROOT, check=True)


def main() -> None:
    """Compile the runtime set, then everything else against it."""
    compile_folder(RUNTIME)
    for folder in (*pipeline().folders, *OTHERS):
        compile_folder(folder, f"{RUNTIME}/requirements.txt")


if __name__ == "__main__":
    main()
