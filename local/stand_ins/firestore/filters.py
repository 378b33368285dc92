"""Turns the `where` of a query into a function that says whether a document matches.

It serves what the bot and its operators use: comparisons and `in`, alone or joined by AND.
"""

from collections.abc import Callable, Iterator

from local.stand_ins.firestore import field_paths, values
from local.stand_ins.firestore.field_paths import Path
from local.stand_ins.firestore.protos import CompositeFilter, FieldFilter, Message
from local.stand_ins.firestore.values import NAN, NULL, Key
from local.stand_ins.grpc_server import invalid, unimplemented

Predicate = Callable[[Message], bool]
#: Values in one `in` (limits of Firestore's queries).
MAX_DISJUNCTIONS = 30

_COMPARISONS: dict[int, Callable[[Key, Key], bool]] = {
    FieldFilter.EQUAL: lambda stored, given: stored == given,
    FieldFilter.LESS_THAN: lambda stored, given: values.comparable(stored, given) and stored < given,
    FieldFilter.LESS_THAN_OR_EQUAL: lambda stored, given: (
        values.comparable(stored, given) and stored <= given
    ),
    FieldFilter.GREATER_THAN: lambda stored, given: values.comparable(stored, given) and stored > given,
    FieldFilter.GREATER_THAN_OR_EQUAL: lambda stored, given: (
        values.comparable(stored, given) and stored >= given
    ),
}


def value_key(document: Message, path: Path) -> Key | None:
    """The key of the value at `path` in a document (`__name__`: its name), or None if there is no value."""
    if path == field_paths.NAME:
        return values.name_key(document.name)
    value = field_paths.get(document.fields, path)
    return None if value is None else values.key(value)


def predicate(filter_: Message) -> Predicate:
    """The function for a filter. Raises INVALID_ARGUMENT if the filter is malformed, or UNIMPLEMENTED."""
    kind = filter_.WhichOneof("filter_type")
    if kind is None:
        raise invalid("Unknown Filter type.")
    if kind == "field_filter":
        return _field(filter_.field_filter)
    if kind == "composite_filter" and filter_.composite_filter.op == CompositeFilter.AND:
        parts = [predicate(part) for part in filter_.composite_filter.filters]
        return lambda document: all(part(document) for part in parts)
    raise unimplemented(f"this kind of filter: {kind}")


def inequality_paths(filter_: Message) -> Iterator[Path]:
    """The fields with an inequality. They order the result of a query that gives no order."""
    if filter_.WhichOneof("filter_type") == "composite_filter":
        for part in filter_.composite_filter.filters:
            yield from inequality_paths(part)
    elif filter_.field_filter.op not in (FieldFilter.EQUAL, FieldFilter.IN):
        yield field_paths.parse(filter_.field_filter.field.field_path)


def _field(filter_: Message) -> Predicate:
    path = field_paths.parse(filter_.field.field_path)
    if filter_.op == FieldFilter.IN:
        # Null and NaN in the list equal nothing.
        listed = _listed(filter_, path) - {NULL, NAN}
        return lambda document: value_key(document, path) in listed
    if filter_.op not in _COMPARISONS:
        raise unimplemented(f"the operator {FieldFilter.Operator.Name(filter_.op)}")
    _check_name(path, filter_.value)
    given, holds = values.key(filter_.value), _COMPARISONS[filter_.op]
    return lambda document: (stored := value_key(document, path)) is not None and holds(stored, given)


def _listed(filter_: Message, path: Path) -> frozenset[Key]:
    if filter_.value.WhichOneof("value_type") != "array_value":
        raise invalid("'IN' requires an ArrayValue.")
    given = filter_.value.array_value.values
    if not 1 <= len(given) <= MAX_DISJUNCTIONS:
        raise invalid(f"'IN' requires 1 to {MAX_DISJUNCTIONS} comparison values.")
    for value in given:
        _check_name(path, value)
    return frozenset(values.key(value) for value in given)


def _check_name(path: Path, given: Message) -> None:
    if path == field_paths.NAME and given.WhichOneof("value_type") != "reference_value":
        raise invalid("A filter on __name__ must be given a reference to a document")
