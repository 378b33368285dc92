"""The files of a local folder that RAG Engine can read."""

import unicodedata
from dataclasses import dataclass
from pathlib import Path

from ops.errors import Exit, OpsError

#: The file types that RAG Engine's own parser reads, with their content type for the upload.
CONTENT_TYPES = {
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".ndjson": "application/x-ndjson",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
#: The size limit of a file type, in bytes, and the limit of all other types
#: (docs.cloud.google.com/vertex-ai/generative-ai/docs/supported-documents).
LARGEST = {".pdf": 50_000_000, ".docx": 50_000_000}
LARGEST_OTHERS = 10_000_000
_TEXT = {".md", ".txt"}


@dataclass(frozen=True)
class LocalFile:
    """A file, and its name below the folder with `/` between its parts."""

    path: Path
    name: str


@dataclass(frozen=True)
class Folder:
    """The files of a folder that can be imported, by name, and the reasons why others cannot."""

    files: dict[str, LocalFile]
    left_out: dict[str, str]


def read_folder(path: Path) -> Folder:
    """All files below a folder, except hidden ones. Raises OpsError if none can be imported."""
    if not path.is_dir():
        raise OpsError(f"There is no folder {path}.", Exit.NOT_FOUND)
    files, left_out = dict[str, LocalFile](), dict[str, str]()
    for each in sorted(path.rglob("*")):
        parts = each.relative_to(path).parts
        if each.is_file() and not any(part.startswith(".") for part in parts):
            # macOS stores letters and their accents separately in file names; links would not match.
            name = unicodedata.normalize("NFC", "/".join(parts))
            if why := _unfit(each):
                left_out[name] = why
            else:
                files[name] = LocalFile(each, name)
    if not files:
        kinds = ", ".join(CONTENT_TYPES)
        raise OpsError(
            f"There is nothing to import in {path}. These file types can be imported: {kinds}.",
            Exit.NOT_FOUND,
        )
    return Folder(files, left_out)


def _unfit(path: Path) -> str:
    """Why a file cannot be imported; empty if it can."""
    suffix = path.suffix.lower()
    if suffix not in CONTENT_TYPES:
        return "RAG Engine does not read this file type"
    largest = LARGEST.get(suffix, LARGEST_OTHERS)
    if path.stat().st_size > largest:
        return f"larger than {largest // 1_000_000} MB"
    if path.stat().st_size == 0:
        return "empty"
    if suffix in _TEXT:
        try:
            path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return "not UTF-8: save it as UTF-8"
    return ""
