"""Changes that the server computes from the stored value: `Write.update_transforms`."""

import math

from local.stand_ins.firestore import field_paths, values
from local.stand_ins.firestore.errors import invalid
from local.stand_ins.firestore.messages import FieldTransform, Message, Value

_INT64 = (-(2**63), 2**63 - 1)


def _server_time(old: Message | None, transform: Message, now: int) -> Message:
    if transform.set_to_server_value != FieldTransform.REQUEST_TIME:
        raise invalid("The kind of server value must be specified")
    stamp = Value()
    # Milliseconds, although update_time has microseconds: documented at ServerValue.REQUEST_TIME.
    stamp.timestamp_value.FromMilliseconds(now // 1000)
    return stamp


def _operand(value: Message) -> int | float:
    if not values.is_number(value):
        raise invalid("Input must be an integer or a double")
    return values.number(value)


def _increment(old: Message | None, transform: Message, now: int) -> Message:
    step = _operand(transform.increment)
    if old is None or not values.is_number(old):
        return transform.increment
    total = values.number(old) + step
    if isinstance(total, int):
        total = min(max(total, _INT64[0]), _INT64[1])
    return values.from_number(total)


def _extreme(old: Message | None, operand: Message, *, larger: bool) -> Message:
    new = _operand(operand)
    if old is None or not values.is_number(old):
        return operand
    stored = values.number(old)
    # NaN wins: as the operand here, and when it is stored because nothing compares with it.
    wins = math.isnan(new) or (new > stored if larger else new < stored)
    return operand if wins else old


def _maximum(old: Message | None, transform: Message, now: int) -> Message:
    return _extreme(old, transform.maximum, larger=True)


def _minimum(old: Message | None, transform: Message, now: int) -> Message:
    return _extreme(old, transform.minimum, larger=False)


def _elements(old: Message | None) -> list[Message]:
    if old is None or old.WhichOneof("value_type") != "array_value":
        return []
    return list(old.array_value.values)


def _array(elements: list[Message]) -> Message:
    array = Value()
    array.array_value.SetInParent()
    array.array_value.values.extend(elements)
    return array


def _union(old: Message | None, transform: Message, now: int) -> Message:
    elements = _elements(old)
    seen = {values.key(element) for element in elements}
    for element in transform.append_missing_elements.values:
        if (identity := values.key(element)) not in seen:
            seen.add(identity)
            elements.append(element)
    return _array(elements)


def _removal(old: Message | None, transform: Message, now: int) -> Message:
    unwanted = {values.key(element) for element in transform.remove_all_from_array.values}
    return _array([element for element in _elements(old) if values.key(element) not in unwanted])


_KINDS = {
    "set_to_server_value": _server_time,
    "increment": _increment,
    "maximum": _maximum,
    "minimum": _minimum,
    "append_missing_elements": _union,
    "remove_all_from_array": _removal,
}
_RESULT_IS_NULL = ("append_missing_elements", "remove_all_from_array")


def apply(fields: Message, transform: Message, now: int) -> Message:
    """Change `fields` in place and return the transform's result: the new value, null for arrays.

    `now` is the commit's time in microseconds. Raises INVALID_ARGUMENT for an operand that does not fit.
    """
    kind = transform.WhichOneof("transform_type")
    if kind is None:
        raise invalid("A field transform has no kind")
    path = field_paths.parse(transform.field_path)
    value = _KINDS[kind](field_paths.get(fields, path), transform, now)
    field_paths.put(fields, path, value)
    if kind in _RESULT_IS_NULL:
        return Value(null_value="NULL_VALUE")
    return value
