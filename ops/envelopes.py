"""An envelope as an operator may see it: without what people wrote, unless they ask for it."""

import json
from typing import Any

#: Fields whose text a person wrote, was answered or was searched for; passages can be long.
_PRIVATE = {"text", "search_query"}
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


def without_text(value: Any) -> Any:
    """The same with each private text replaced by its length."""
    if isinstance(value, dict):
        return {
            name: f"({len(part)} characters)"
            if name in _PRIVATE and isinstance(part, str)
            else without_text(part)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [without_text(part) for part in value]
    return value
