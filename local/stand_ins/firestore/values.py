"""How Firestore orders values, also of different types ("Data types" in Firestore's documentation).

Null < booleans < numbers < timestamps < strings < bytes < references < geo points < arrays < maps.
Integers and doubles are one type: 1 equals 1.0. NaN equals itself and comes before every other number.
"""

import math
from collections.abc import Callable
from typing import Any

from local.stand_ins.firestore.protos import Message
from local.stand_ins.grpc_server import invalid

#: Keys compare with < and == as the values do, and are hashable. The first item is the rank of the type.
Key = tuple[Any, ...]

NULL: Key = (0,)
NAN: Key = (2, 0)
_REFERENCE = 6


def _number(number: float) -> Key:
    return NAN if math.isnan(number) else (2, 1, number)


def name_key(name: str) -> Key:
    """The key of a document's name: by path segment, each in UTF-8 byte order (as Python orders strings)."""
    return (_REFERENCE, tuple(name.split("/")))


def _map(value: Message) -> Key:
    fields = value.map_value.fields
    return (9, tuple((name, key(fields[name])) for name in sorted(fields)))


_KEYS: dict[str, Callable[[Message], Key]] = {
    "null_value": lambda value: NULL,
    "boolean_value": lambda value: (1, value.boolean_value),
    "integer_value": lambda value: (2, 1, value.integer_value),
    "double_value": lambda value: _number(value.double_value),
    "timestamp_value": lambda value: (3, value.timestamp_value.seconds, value.timestamp_value.nanos),
    "string_value": lambda value: (4, value.string_value),
    "bytes_value": lambda value: (5, value.bytes_value),
    "reference_value": lambda value: name_key(value.reference_value),
    "geo_point_value": lambda value: (7, value.geo_point_value.latitude, value.geo_point_value.longitude),
    "array_value": lambda value: (8, tuple(key(element) for element in value.array_value.values)),
    "map_value": _map,
}


def key(value: Message) -> Key:
    """The key of `value`. Raises INVALID_ARGUMENT if it has no type, or one that cannot be stored."""
    kind = value.WhichOneof("value_type")
    if kind not in _KEYS:
        raise invalid(f"Cannot convert a value of type {kind or 'unset'}")
    return _KEYS[kind](value)


def comparable(one: Key, other: Key) -> bool:
    """Whether < and > apply to these keys: they have the same type, and neither is NaN."""
    return one[0] == other[0] and NAN not in (one, other)
