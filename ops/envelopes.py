"""An envelope as an operator may see it: without what people wrote, unless they ask for it."""

import json
import re
from typing import Any

#: Fields of ours that hold nothing a person wrote, was answered or was searched for.
_PUBLIC = re.compile(
    "asked_at|conversation|distance|id|language|link|person|question_id|rewrite_fault|role|space|thread|timestamp|title"
    "|trace|uri|version"
)
UNREADABLE = "(not readable as JSON)"


def readable(data: object, *, with_text: bool) -> str:
    """The message's data as indented JSON, private texts replaced by their length."""
    if not isinstance(data, bytes):
        return "(not kept: larger than a Firestore document may be, or discarded)"
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data[:2000].decode(errors="replace") if with_text else f"{UNREADABLE}, {len(data)} bytes"
    known = isinstance(value, dict) and "question" in value
    if not with_text and not known:  # somebody else's: any of it may be private
        return f"(not an envelope of ours, {len(data)} bytes; --with-text shows it)"
    return json.dumps(value if with_text else without_text(value), ensure_ascii=False, indent=2)


def without_text(value: Any, name: str = "") -> Any:
    """The same with each text that is not known to be public replaced by its length."""
    if isinstance(value, dict):
        return {key: without_text(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [without_text(part, name) for part in value]
    return f"({len(value)} characters)" if isinstance(value, str) and not _PUBLIC.fullmatch(name) else value
