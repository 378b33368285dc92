"""Field paths such as ``a.b.`c d` ``: parses them and follows them into the fields of a document.

The grammar is the one documented at `StructuredQuery.FieldReference` in Firestore's v1 protos.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from local.stand_ins.firestore.protos import Document, Message
from local.stand_ins.grpc_server import invalid

Path = tuple[str, ...]
#: The path of the document's name, which is not a field.
NAME: Path = ("__name__",)
_SEGMENT = re.compile(r"([a-zA-Z_][a-zA-Z_0-9]*)|`((?:[^`\\]|\\.)+)`", re.DOTALL)


@lru_cache(maxsize=4096)
def parse(text: str) -> Path:
    """The field names of a path, outermost first. Raises INVALID_ARGUMENT if it is malformed."""
    names = []
    position = 0
    while match := _SEGMENT.match(text, position):
        names.append(match[1] or re.sub(r"\\(.)", r"\1", match[2], flags=re.DOTALL))
        if match.end() == len(text):
            return tuple(names)
        if text[match.end()] != ".":
            break
        position = match.end() + 1
    raise invalid(f'Invalid field path "{text}": names are letters, digits and _, others stand in backquotes')


def get(fields: Message, path: Path) -> Message | None:
    """The value at `path`, or None."""
    *parents, last = path
    for name in parents:
        if name not in fields or fields[name].WhichOneof("value_type") != "map_value":
            return None
        fields = fields[name].map_value.fields
    found: Message | None = fields.get(last)
    return found


def put(fields: Message, path: Path, value: Message) -> None:
    """Set the value at `path`. A parent that is not a map becomes one."""
    *parents, last = path
    for name in parents:
        if fields[name].WhichOneof("value_type") != "map_value":
            fields[name].map_value.SetInParent()
        fields = fields[name].map_value.fields
    fields[last].CopyFrom(value)


def remove(fields: Message, path: Path) -> None:
    """Delete the value at `path`, if there is one. Its parents stay."""
    *parents, last = path
    for name in parents:
        if name not in fields or fields[name].WhichOneof("value_type") != "map_value":
            return
        fields = fields[name].map_value.fields
    fields.pop(last, None)


def project(document: Message, paths: Iterable[Path]) -> Message:
    """A copy of `document` that has only these fields."""
    chosen = Document(name=document.name, create_time=document.create_time, update_time=document.update_time)
    for path in paths:
        value = get(document.fields, path)
        if value is not None:
            put(chosen.fields, path, value)
    return chosen
