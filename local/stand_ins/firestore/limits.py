"""The limits of a document: its size, its depth, its field names.

The rules are on Firestore's pages "Quotas and limits" and "Storage size calculations". Where the pages are
not clear, we follow Google's emulator: a map counts as much as its fields, without the 32 bytes of a
document; an empty map or array counts one byte.
"""

from collections.abc import Callable

from local.stand_ins.firestore.names import NUMERIC_ID
from local.stand_ins.firestore.protos import Message
from local.stand_ins.grpc_server import invalid

MAX_DOCUMENT_BYTES = 1024 * 1024
#: The longest string or bytes value: 1 MiB less 89 bytes.
MAX_VALUE_BYTES = MAX_DOCUMENT_BYTES - 89
#: How deep maps and arrays may be nested.
MAX_DEPTH = 20
_MAX_FIELD_NAME_BYTES = 1500


def _string(text: str) -> int:
    return len(text.encode()) + 1


def _name(name: str) -> int:
    segments = name.split("/")[5:]
    return 16 + sum(8 if NUMERIC_ID.fullmatch(segment) else _string(segment) for segment in segments)


def _checked_value_bytes(size: int, content: int) -> int:
    if content > MAX_VALUE_BYTES:
        raise invalid(f"A value of {content} bytes is longer than {MAX_VALUE_BYTES} bytes")
    return size


def _checked_field_name(name: str) -> int:
    if not name:
        raise invalid("A field name is empty")
    size = len(name.encode())
    if size > _MAX_FIELD_NAME_BYTES:
        raise invalid(f"A field name of {size} bytes is longer than {_MAX_FIELD_NAME_BYTES} bytes")
    if len(name) >= 4 and name.startswith("__") and name.endswith("__") and name != "__type__":
        raise invalid(f'Field name "{name}" is reserved')
    return size + 1


def _fields(fields: Message, depth: int) -> int:
    return sum(_checked_field_name(name) + _value(fields[name], depth) for name in fields)


def _map(value: Message, depth: int) -> int:
    _check_depth(depth)
    return _fields(value.map_value.fields, depth + 1) or 1


def _array(value: Message, depth: int) -> int:
    _check_depth(depth)
    elements = value.array_value.values
    if any(element.WhichOneof("value_type") == "array_value" for element in elements):
        raise invalid("Cannot convert an array value in an array value.")
    return sum(_value(element, depth + 1) for element in elements) or 1


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise invalid(f"A field contains an invalid nested entity: more than {MAX_DEPTH} levels")


def _text(value: Message, depth: int) -> int:
    size = _string(value.string_value)
    return _checked_value_bytes(size, size - 1)


def _bytes(value: Message, depth: int) -> int:
    size = len(value.bytes_value)
    return _checked_value_bytes(size, size)


_SIZES: dict[str, Callable[[Message, int], int]] = {
    "null_value": lambda value, depth: 1,
    "boolean_value": lambda value, depth: 1,
    "integer_value": lambda value, depth: 8,
    "double_value": lambda value, depth: 8,
    "timestamp_value": lambda value, depth: 8,
    "geo_point_value": lambda value, depth: 16,
    "reference_value": lambda value, depth: _name(value.reference_value),
    "string_value": _text,
    "bytes_value": _bytes,
    "array_value": _array,
    "map_value": _map,
}


def _value(value: Message, depth: int) -> int:
    kind = value.WhichOneof("value_type")
    if kind not in _SIZES:
        raise invalid(f"Cannot convert a value of type {kind or 'unset'}")
    return _SIZES[kind](value, depth)


def document_bytes(document: Message) -> int:
    """The size of a document in bytes, as Firestore counts it. Raises INVALID_ARGUMENT."""
    return _name(document.name) + _fields(document.fields, 1) + 32


def check(document: Message) -> None:
    """Raise INVALID_ARGUMENT if Firestore would not store the document."""
    size = document_bytes(document)
    if size > MAX_DOCUMENT_BYTES:
        raise invalid(
            f'Document "{document.name}" cannot be written because its size ({size:,} bytes) '
            f"exceeds the maximum allowed size of {MAX_DOCUMENT_BYTES:,} bytes."
        )
