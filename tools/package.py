"""Write `build/<name>_fn.zip` for each function. The tests unpack and serve these zips.

The function's `main.py` and `requirements.txt` are at the root, beside the packages `<name>_fn` and `shared`.
The same source always gives the same bytes, so a deployment replaces a function only if its code has changed.
"""

import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from shared.pipeline import pipeline

ROOT = Path(__file__).resolve().parent.parent
AT_THE_ROOT = ("main.py", "requirements.txt")
#: The earliest time that a zip can hold.
TIMESTAMP = (1980, 1, 1, 0, 0, 0)
MODE = 0o100644
UNIX = 3


def contents(function: str, root: Path = ROOT) -> Iterator[tuple[str, Path]]:
    """The files of a function's zip as (name in the zip, path), in the order of the zip."""
    for name in AT_THE_ROOT:
        yield name, root / function / name
    for package in (function, "shared"):
        for path in sorted((root / package).rglob("*")):
            inside = path.relative_to(root)
            if path.is_file() and _belongs(inside) and inside != Path(function, "main.py"):
                yield inside.as_posix(), path


def build(out: Path, root: Path = ROOT) -> list[Path]:
    """Write the zips into the folder `out` and return their paths. Raises OSError if a file is missing."""
    out.mkdir(parents=True, exist_ok=True)
    return [_write(out / f"{function}.zip", contents(function, root)) for function in pipeline().folders]


def _belongs(inside: Path) -> bool:
    """Whether a file belongs into the zip. Caches, hidden files and requirement files do not."""
    return not any(part.startswith((".", "__pycache__", "requirements")) for part in inside.parts)


def _write(archive: Path, files: Iterator[tuple[str, Path]]) -> Path:
    # Stored, not deflated: zlib's output differs between versions, and the files are small.
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as zipped:
        for name, path in files:
            entry = zipfile.ZipInfo(name, TIMESTAMP)
            entry.create_system = UNIX
            entry.external_attr = MODE << 16
            zipped.writestr(entry, path.read_bytes())
    return archive


def main() -> None:
    """Write all zips and print name, size in bytes and SHA-256 of each."""
    for archive in build(ROOT / "build"):
        data = archive.read_bytes()
        print(f"{archive.relative_to(ROOT)}  {len(data):>7}  {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
