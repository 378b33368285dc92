"""Install pinned wheels into a venv with whichever pip can be found, and say plainly why it failed."""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

#: A pip of version 22.3 or newer can install into another Python's venv.
OTHER_PYTHONS = ("python3", "python3.13", "python3.12", "python3.11", "python")
#: `requirements.txt` names every package, so there are no dependencies left to resolve.
#: Bytecode is compiled afterwards, on all cores and without the packages that are never imported.
INSTALL = (
    "install", "--only-binary", ":all:", "--no-deps", "--no-compile",
    "--no-input", "--disable-pip-version-check", "--progress-bar", "off",
)  # fmt: skip
#: These are two thirds of all code and never imported. Compiling them would take longer than all the rest.
NEVER_IMPORTED = r"/(aiplatform_v1beta1|vertexai|agentplatform|tests)/"
#: Settings of the user that would install the packages somewhere else.
MISLEADING = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER")

#: Patterns in pip's output, and their meaning. The first match counts, because pip reports a network failure
#: only as a warning and then ends with "No matching distribution".
REASONS = (
    (r"No space left on device", "The disk is full."),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "The package index is not trusted: check clock, proxy and PIP_CERT.",
    ),
    (
        r"NewConnectionError|NameResolutionError|ProxyError|ConnectTimeout|Read timed out|ConnectionReset|"
        r"Connection aborted",
        "The package index cannot be reached: check the network and the proxy settings.",
    ),
    (
        r"No matching distribution found for (?P<what>\S+)",
        "The package index has no ready-made wheel of {what} for Python {python} on {system}.",
    ),
    (r"Permission denied", "The folder cannot be written to."),
)
#: How pip's line for one package starts.
FOUND = ("Collecting ", "Processing ", "Requirement already satisfied: ")
LAST_LINES = 8


class SetupFailed(Exception):
    """The setup cannot continue. The message tells the user why, and what to do."""


def base_python() -> str:
    """The running Python. Inside a venv: the Python from which the venv was made."""
    return getattr(sys, "_base_executable", sys.executable)


def reason(output: str) -> str:
    """Why pip failed, in one sentence. `output` is what pip printed."""
    for pattern, sentence in REASONS:
        if found := re.search(pattern, output):
            system = f"{platform.system()} {platform.machine()}"
            return sentence.format(python=_python_version(), system=system, **found.groupdict())
    return "pip failed."


def find_pip(python: Path, base: str, others: tuple[str, ...] = OTHER_PYTHONS) -> list[str]:
    """The command line of a pip that installs into the venv of `python`, which was made from `base`.

    Tries the pip of `base` first, because installing pip into the venv takes 3 s. Raises SetupFailed if none
    works.
    """
    own = _pip_of(base, python)
    if _succeeds([*own, "list"]):
        return own
    if _succeeds([str(python), "-m", "ensurepip"]):
        return [str(python), "-m", "pip"]
    for other in others:
        # Not `--version`: on Python 3.12, a pip from 2023 or earlier prints its version but cannot install.
        if _succeeds([*_pip_of(other, python), "list"]):
            return _pip_of(other, python)
    version = _python_version()
    raise SetupFailed(
        f"Python {version} ({base}) has neither pip nor ensurepip.\n"
        f"Install them, for example with: sudo apt-get install python{version}-venv"
    )


def _pip_of(other: str, python: Path) -> list[str]:
    return [other, "-m", "pip", "--python", str(python)]


def _succeeds(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False, env=_environment()).returncode == 0
    except OSError:
        return False


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in MISLEADING} | {"PIP_USER": "0"}


def _python_version() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def install(pip: list[str], requirements: Path, log: Path, progress: Callable[[int], None]) -> None:
    """Install what `requirements` pins; pip's output goes to `log`, its count of packages to `progress`.

    Raises SetupFailed with the reason, the last lines of the log, and where it is.
    """
    command = [*pip, *INSTALL, "--requirement", str(requirements)]
    found = 0
    with (
        log.open("w") as file,
        # pip inherits the lock of this setup (close_fds). It still holds the lock if this process is killed.
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env=_environment(), close_fds=False,
        ) as process,
    ):  # fmt: skip
        for line in process.stdout or ():
            file.write(line)
            found += line.startswith(FOUND)
            progress(found)
    if process.returncode:
        output = log.read_text()
        last = "".join(f"  {line}\n" for line in output.splitlines()[-LAST_LINES:])
        raise SetupFailed(f"{reason(output)} The last lines of {log}:\n{last}")


def compile_bytecode(python: Path) -> None:
    """Compile the modules that are imported, so that the first start is as fast as later ones.

    A failure does not matter, because Python compiles missing modules when it imports them.
    """
    command = [str(python), "-m", "compileall", "-q", "-j", "0", "-x", NEVER_IMPORTED]
    subprocess.run([*command, str(python.parent.parent / "lib")], capture_output=True, check=False)
