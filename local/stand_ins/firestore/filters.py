"""The `where` of a query, turned into a function that says whether a document matches."""

from collections.abc import Callable, Iterator

from local.stand_ins.firestore import field_paths, values
from local.stand_ins.firestore.errors import invalid, unimplemented
from local.stand_ins.firestore.field_paths import Path
from local.stand_ins.firestore.messages import CompositeFilter, FieldFilter, Message, UnaryFilter
from local.stand_ins.firestore.values import NAN, NULL, Key

Predicate = Callable[[Message], bool]
#: Comparison values in one `in`, `not-in` or `array-contains-any` (limits of Firestore's queries).
MAX_DISJUNCTIONS = 30
MAX_NOT_IN = 10

_INEQUALITIES = tuple(
    getattr(FieldFilter, name)
    for name in (
        "LESS_THAN",
        "LESS_THAN_OR_EQUAL",
        "GREATER_THAN",
        "GREATER_THAN_OR_EQUAL",
        "NOT_EQUAL",
        "NOT_IN",
    )
)
_UNARY_INEQUALITIES = (UnaryFilter.IS_NOT_NAN, UnaryFilter.IS_NOT_NULL)


def value_key(document: Message, path: Path) -> Key | None:
    """The key of what a document has at `path` (`__name__`: its name), or None when it has nothing."""
    if path == field_paths.NAME:
        return values.name_key(document.name)
    value = field_paths.get(document.fields, path)
    return None if value is None else values.key(value)


def _members(key: Key) -> tuple[Key, ...]:
    is_array = key[0] == values.ARRAY
    return key[1] if is_array else ()


_COMPARISONS: dict[int, Callable[[Key, Key], bool]] = {
    FieldFilter.EQUAL: lambda stored, given: stored == given,
    FieldFilter.NOT_EQUAL: lambda stored, given: stored not in (NULL, given),
    FieldFilter.LESS_THAN: lambda stored, given: values.comparable(stored, given) and stored < given,
    FieldFilter.LESS_THAN_OR_EQUAL: lambda stored, given: (
        values.comparable(stored, given) and stored <= given
    ),
    FieldFilter.GREATER_THAN: lambda stored, given: values.comparable(stored, given) and stored > given,
    FieldFilter.GREATER_THAN_OR_EQUAL: lambda stored, given: (
        values.comparable(stored, given) and stored >= given
    ),
    FieldFilter.ARRAY_CONTAINS: lambda stored, given: given in _members(stored),
}

_LIST_COMPARISONS: dict[int, Callable[[Key, frozenset[Key]], bool]] = {
    # Null and NaN in the list equal nothing, but a null in the list of not-in makes it match nothing.
    FieldFilter.IN: lambda stored, given: stored in given - {NULL, NAN},
    FieldFilter.NOT_IN: lambda stored, given: NULL not in given and stored not in (given - {NAN}) | {NULL},
    FieldFilter.ARRAY_CONTAINS_ANY: lambda stored, given: (
        not (given - {NULL, NAN}).isdisjoint(_members(stored))
    ),
}


def _check_name(path: Path, given: Message) -> None:
    if path == field_paths.NAME and given.WhichOneof("value_type") != "reference_value":
        raise invalid("A filter on __name__ must be given a reference to a document")


def _listed(filter_: Message, path: Path) -> frozenset[Key]:
    op = FieldFilter.Operator.Name(filter_.op)
    if filter_.value.WhichOneof("value_type") != "array_value":
        raise invalid(f"'{op}' requires an ArrayValue.")
    given = filter_.value.array_value.values
    limit = MAX_NOT_IN if filter_.op == FieldFilter.NOT_IN else MAX_DISJUNCTIONS
    if not 1 <= len(given) <= limit:
        raise invalid(f"'{op}' requires 1 to {limit} comparison values.")
    for value in given:
        _check_name(path, value)
    return frozenset(values.key(value) for value in given)


def _field(filter_: Message) -> Predicate:
    path = field_paths.parse(filter_.field.field_path)
    if filter_.op in _LIST_COMPARISONS:
        listed, belongs = _listed(filter_, path), _LIST_COMPARISONS[filter_.op]
        return lambda document: (stored := value_key(document, path)) is not None and belongs(stored, listed)
    if filter_.op not in _COMPARISONS:
        raise invalid("Unknown FieldFilter operator.")
    _check_name(path, filter_.value)
    given, holds = values.key(filter_.value), _COMPARISONS[filter_.op]
    return lambda document: (stored := value_key(document, path)) is not None and holds(stored, given)


def _unary(filter_: Message) -> Predicate:
    path = field_paths.parse(filter_.field.field_path)
    stored_is: dict[int, Callable[[Key], bool]] = {
        UnaryFilter.IS_NULL: lambda stored: stored == NULL,
        UnaryFilter.IS_NAN: lambda stored: stored == NAN,
        UnaryFilter.IS_NOT_NULL: lambda stored: stored != NULL,
        UnaryFilter.IS_NOT_NAN: lambda stored: stored not in (NULL, NAN),
    }
    if filter_.op not in stored_is:
        raise invalid("Unknown UnaryFilter operator.")
    test = stored_is[filter_.op]
    return lambda document: (stored := value_key(document, path)) is not None and test(stored)


def _composite(filter_: Message) -> Predicate:
    parts = [predicate(part) for part in filter_.filters]
    if filter_.op == CompositeFilter.AND:
        return lambda document: all(part(document) for part in parts)
    if filter_.op == CompositeFilter.OR:
        return lambda document: any(part(document) for part in parts)
    raise invalid("Unsupported CompositeFilter operator.")


_KINDS: dict[str, Callable[[Message], Predicate]] = {
    "field_filter": _field,
    "unary_filter": _unary,
    "composite_filter": _composite,
}


def predicate(filter_: Message) -> Predicate:
    """Whether a document matches. Raises INVALID_ARGUMENT for a malformed filter."""
    kind = filter_.WhichOneof("filter_type")
    if kind is None:
        raise invalid("Unknown Filter type.")
    if kind not in _KINDS:
        raise unimplemented(f"filters of kind {kind}")
    return _KINDS[kind](getattr(filter_, kind))


def inequality_paths(filter_: Message) -> Iterator[Path]:
    """The fields that are compared by an inequality: a query without orders of its own is ordered by them."""
    kind = filter_.WhichOneof("filter_type")
    if kind == "composite_filter":
        for part in filter_.composite_filter.filters:
            yield from inequality_paths(part)
    elif kind == "field_filter" and filter_.field_filter.op in _INEQUALITIES:
        yield field_paths.parse(filter_.field_filter.field.field_path)
    elif kind == "unary_filter" and filter_.unary_filter.op in _UNARY_INEQUALITIES:
        yield field_paths.parse(filter_.unary_filter.field.field_path)
