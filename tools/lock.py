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


def compile_folder(folder: str, *, beside: tuple[str, ...] = (), constraint: str | None = None) -> None:
    """Write `<folder>/requirements.txt` for Python 3.11 to 3.13 on any system, without any index line.

    The file also has the packages for the folders in `beside`. `constraint` is a file with the versions.
    """
    command = [
        sys.executable, "-m", "uv", "pip", "compile",
        *(f"{each}/requirements.in" for each in (folder, *beside)),
        "--output-file", f"{folder}/requirements.txt",
        "--universal", "--python-version", "3.11",
        "--no-annotate", "--quiet", "--custom-compile-command", "make lock",
    ]  # fmt: skip
    if constraint:
        command += ["--constraint", constraint]
    subprocess.run(command, cwd=ROOT, check=True)


def main() -> None:
    """Compile the runtime set, then everything else against it."""
    functions = pipeline().folders
    compile_folder(RUNTIME, beside=functions)
    constraint = f"{RUNTIME}/requirements.txt"
    for folder in (*functions, "ops"):
        compile_folder(folder, constraint=constraint)
    compile_folder("tests", beside=functions, constraint=constraint)


if __name__ == "__main__":
    main()
