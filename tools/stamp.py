"""A file that a finished setup leaves in the venv. The next setup reads it, and may have nothing to do."""

import hashlib
import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

#: Prints which Python a venv was made from.
IDENTITY = "import sys; print(sys.base_prefix, '%d.%d' % sys.version_info[:2])"


@dataclass(frozen=True)
class Stamp:
    """Describes a finished venv."""

    folder: str  #: where the venv was made: its scripts name that path
    python: str  #: as IDENTITY prints it
    contents: str  #: `run` or `test`
    digest: str  #: SHA-256 of that set's requirements

    def holds(self, folder: Path) -> bool:
        """Whether the venv in `folder` is still the one this stamp was written for, and its Python starts."""
        return self.folder == str(folder) and self.python == identity(str(folder / "bin" / "python"))


def read(folder: Path) -> Stamp | None:
    """The stamp of the venv in `folder`; None if no setup has finished."""
    try:
        return Stamp(**json.loads((folder / "setup.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def write(folder: Path, stamp: Stamp) -> None:
    """Mark the venv in `folder` as finished."""
    (folder / "setup.json").write_text(json.dumps(asdict(stamp), indent=2) + "\n")


def remove(folder: Path) -> None:
    """Mark the venv in `folder` as unfinished. If this setup is interrupted, the next one starts again."""
    (folder / "setup.json").unlink(missing_ok=True)


def digest(requirements: Path) -> str:
    """SHA-256 of a requirements file, in hexadecimal."""
    return hashlib.sha256(requirements.read_bytes()).hexdigest()


def identity(python: str) -> str:
    """Which installation and version this interpreter comes from; empty if it does not start."""
    try:
        process = subprocess.run([python, "-I", "-c", IDENTITY], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return process.stdout.strip()
