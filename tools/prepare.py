"""Prepare `.venv` with the pinned packages. `tools/setup.py` chooses a Python and runs this module on it."""

import argparse
import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tools import stamp
from tools.installer import SetupFailed, base_python, compile_bytecode, find_pip, install
from tools.stamp import Stamp

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / ".local"
LOG = STATE / "setup.log"
#: `test` contains `run`, in the same versions.
REQUIREMENTS = {"run": ROOT / "local/requirements.txt", "test": ROOT / "tests/requirements.txt"}


def prepare(folder: Path, wanted: str, *, this_python: bool) -> None:
    """Install the set `wanted` (`run` or `test`) into the venv in `folder`. Returns at once if it is there.

    Makes the venv again if it was copied or left unfinished, or if its Python is gone. With `this_python`,
    also if its Python is not the running one. Never removes the test tools. Raises SetupFailed, OSError.
    """
    found = stamp.read(folder)
    if found and not found.holds(folder):
        found = None
    if found and this_python and found.python != stamp.identity(sys.executable):
        found = None
    contents = "test" if found and found.contents == "test" else wanted
    digest = stamp.digest(REQUIREMENTS[contents])
    if found and (found.contents, found.digest) == (contents, digest):
        return
    started = time.monotonic()
    if found:
        stamp.remove(folder)
    else:
        make_venv(folder)
    fill(folder, REQUIREMENTS[contents])
    stamp.write(folder, Stamp(str(folder), stamp.identity(str(folder / "bin" / "python")), contents, digest))
    say(f"{folder.name} is ready ({time.monotonic() - started:.0f} s)")


def make_venv(folder: Path) -> None:
    """Make an empty venv, and replace an existing one. Raises SetupFailed, also if `folder` is a link."""
    if folder.is_symlink():  # Python would empty the folder that it points to, and then fail
        raise SetupFailed(f"{folder} is a link to a folder that was made elsewhere. Remove the link.")
    say(f"Making {folder.name} with Python {sys.version.split()[0]} ({base_python()})")
    try:
        import venv  # noqa: PLC0415  Debian's smallest Python comes without it

        venv.EnvBuilder(clear=True, symlinks=True).create(folder)
    except ImportError:
        raise SetupFailed("This Python has no venv. Install it: sudo apt-get install python3-venv") from None
    except (OSError, ValueError) as error:
        raise SetupFailed(f"{folder} cannot be made: {error}") from error


def fill(folder: Path, requirements: Path) -> None:
    """Install what `requirements` pins into the venv. Raises SetupFailed, OSError."""
    python = folder / "bin" / "python"
    pip = find_pip(python, base_python())
    count = sum(not line.startswith("#") for line in requirements.read_text().splitlines())
    with counting(f"Installing {count} packages") as progress:
        install(pip, requirements, LOG, progress)
    say("Compiling them")
    compile_bytecode(python)


@contextmanager
def counting(text: str) -> Iterator[Callable[[int], None]]:
    """Show a counter on a terminal, so that the user sees progress on a slow network."""
    if not sys.stdout.isatty():
        say(text)
        yield lambda found: None
        return
    try:
        yield lambda found: print(f"\r{text}: {found}", end="", flush=True)
    finally:
        print()


def say(text: str) -> None:
    """Print one line for the user."""
    print(text, flush=True)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until no other setup of this folder is running, and make others wait."""
    STATE.mkdir(exist_ok=True)
    with (STATE / "setup.lock").open("w") as lock:
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another setup to finish")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(arguments: list[str]) -> int:
    """Prepare the venv. Returns the exit code: 0, 1 after printing an error, or 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="tools/setup.py", description=__doc__)
    parser.add_argument(
        "set", choices=REQUIREMENTS, help="run: packages for `make run`; test: these and the test tools"
    )
    parser.add_argument("--venv", default=".venv", help="the folder to prepare (default: .venv)")
    options = parser.parse_args(arguments)
    try:
        with one_at_a_time():
            prepare(ROOT / options.venv, options.set, this_python="PYTHON" in os.environ)
    except SetupFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The setup cannot continue: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. Run it again to finish.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
