"""The file format of `dead export` and `dead import`: JSON lines, one case per line."""

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ops.case import is_case_id
from ops.errors import Exit, OpsError
from shared.memory.cases import STATES
from shared.memory.firestore import Fields

_BYTES, _TIME = "$bytes", "$time"


def write(path: Path, cases: Iterable[tuple[str, Fields]]) -> int:
    """Write cases to a new file that only its owner can read, and return their number. Raises OpsError.

    On return the file is on the disk.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise OpsError(f"{path} cannot be written: {error.strerror}.", Exit.INVALID) from None
    count = 0
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            for count, (case_id, fields) in enumerate(cases, start=1):  # noqa: B007 - the last one is the count
                line = json.dumps({"id": case_id, "fields": fields}, default=_encoded, ensure_ascii=False)
                file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)  # an incomplete file would look complete, and would block the next try
        raise
    return count


def read(path: Path) -> Iterator[tuple[str, Fields]]:
    """The cases in a file. Raises OpsError that names the first line that is not a case."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")  # a text may contain other line separators
    except OSError as error:
        raise OpsError(f"{path} cannot be read: {error.strerror}.", Exit.INVALID) from None
    except UnicodeDecodeError:
        raise OpsError(f"{path} is not a text file, so it is not from `dead export`.", Exit.INVALID) from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _case(line, f"{path}, line {number}")


def _case(line: str, where: str) -> tuple[str, Fields]:
    try:
        case = json.loads(line, object_hook=_decoded)
        case_id, fields = case["id"], case["fields"]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        raise OpsError(
            f"{where} is not an exported dead letter. Nothing was imported.", Exit.INVALID
        ) from None
    proper = (
        isinstance(fields, dict)
        and fields.get("state") in STATES
        and isinstance(fields.get("data", ""), bytes | None)
    )
    if not (proper and isinstance(case_id, str) and is_case_id(case_id)):
        raise OpsError(f"{where} is not an exported dead letter. Nothing was imported.", Exit.INVALID)
    return case_id, fields


def _encoded(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: b64encode(value).decode()}
    if isinstance(value, datetime):
        return {_TIME: value.isoformat()}
    raise TypeError(f"a case holds no {type(value).__name__}")


def _decoded(value: dict[str, Any]) -> Any:
    if value.keys() == {_BYTES}:
        return b64decode(value[_BYTES], validate=True)
    if value.keys() == {_TIME}:
        return datetime.fromisoformat(value[_TIME]).astimezone(UTC)
    return value
