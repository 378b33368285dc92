"""The Firestore contract, reading many documents."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from google.api_core import exceptions as errors
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import And, FieldFilter

from tests.support.firestore_contract import ONCE

pytest_plugins = ["tests.support.firestore_servers"]
pytestmark = pytest.mark.slow


#: In Firestore's order of values; those on one line are equal.
ORDERED: list[dict[str, Any]] = [
    {"null": None},
    {"false": False},
    {"true": True},
    {"nan": math.nan},
    {"minus": -1},
    {"negative-zero": -0.0, "zero": 0},
    {"one": 1, "one-double": 1.0},
    {"one-half": 1.5},
    {"two-to-53": float(2**53)},
    {"two-to-53-plus-1": 2**53 + 1},
    {"time": datetime(2026, 1, 1, tzinfo=UTC)},
    {"later": datetime(2026, 1, 1, microsecond=1, tzinfo=UTC)},
    {"text-empty": ""},
    {"text-a": "a"},
    {"text-b": "b"},
    {"text-kanji": "日本"},
    {"text-halfwidth": "￮"},
    {"text-emoji": "😀"},
    {"bytes": b"a"},
    {"place": firestore.GeoPoint(1, 2)},
    {"place-north": firestore.GeoPoint(2, 1)},
    {"array-empty": []},
    {"array-null": [None]},
    {"array-1": [1]},
    {"array-1-2": [1, 2]},
    {"map-empty": {}},
    {"map-a1": {"a": 1}},
    {"map-a1-b": {"a": 1, "b": 0}},
    {"map-a2": {"a": 2}},
    {"map-b": {"b": 0}},
]
EVERY = [name for line in ORDERED for name in line]


@pytest.fixture
def shelf(database: firestore.Client) -> Any:
    """A collection with a document for every kind of value, and one without."""
    batch = database.batch()
    collection = database.collection("shelf")
    for line in ORDERED:
        for name, value in line.items():
            batch.set(collection.document(name), {"v": value, "length": len(name)})
    batch.set(collection.document("without"), {"length": 7})
    batch.commit(**ONCE)
    return collection


def ids(query: Any) -> list[str]:
    """The ids of what a query finds, in its order."""
    return [snapshot.id for snapshot in query.stream(**ONCE)]


def test_values_are_ordered_across_types_and_a_missing_field_is_left_out(shelf: Any) -> None:
    assert ids(shelf.order_by("v")) == EVERY
    assert ids(shelf.order_by("v", direction="DESCENDING")) == EVERY[::-1]


def test_a_collection_is_ordered_by_name(shelf: Any) -> None:
    assert ids(shelf) == sorted([*EVERY, "without"])


def between(first: str, last: str, *but: str) -> list[str]:
    """The names from `first` to `last` in `EVERY`, except some."""
    return [name for name in EVERY[EVERY.index(first) : EVERY.index(last) + 1] if name not in but]


@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        ("==", 1, ["one", "one-double"]),
        ("==", 1.0, ["one", "one-double"]),
        ("==", True, ["true"]),
        ("==", [1], ["array-1"]),
        ("==", {"a": 1.0}, ["map-a1"]),
        ("==", "none", []),
        ("<", 1, ["minus", "negative-zero", "zero"]),
        ("<=", 1.0, between("minus", "one-double")),
        (">", 1, between("one-half", "two-to-53-plus-1")),
        (">=", 1, between("one", "two-to-53-plus-1")),
        (">", float(2**53), ["two-to-53-plus-1"]),
        (">", "a", between("text-b", "text-emoji")),
        ("<", "a", ["text-empty"]),
        (">", datetime(2026, 1, 1, tzinfo=UTC), ["later"]),
        ("<", [1], ["array-empty", "array-null"]),
        (">=", {"a": 1}, between("map-a1", "map-b")),
        ("in", [1, "b"], ["one", "one-double", "text-b"]),
        ("in", [None, math.nan], []),
    ],
    ids=str,
)
def test_a_filter_finds_what_compares(shelf: Any, op: str, value: Any, expected: list[str]) -> None:
    assert ids(shelf.where(filter=FieldFilter("v", op, value)).order_by("v")) == expected


def test_filters_combine_with_and(shelf: Any) -> None:
    short, positive = FieldFilter("length", "==", 3), FieldFilter("v", ">", 0)
    assert ids(shelf.where(filter=And([short, positive]))) == ["one"]
    assert ids(shelf.where(filter=short).where(filter=positive)) == ["one"]


def test_a_query_without_orders_goes_by_its_inequality_and_then_by_name(shelf: Any) -> None:
    found = ids(shelf.where(filter=FieldFilter("length", ">", 9)))
    assert found == sorted(found, key=lambda name: (len(name), name))
    assert len(found) > 5


def test_names_break_ties_in_the_direction_of_the_last_order(shelf: Any) -> None:
    everything = [*EVERY, "without"]
    assert ids(shelf.order_by("length")) == sorted(everything, key=lambda name: (len(name), name))
    descending = ids(shelf.order_by("length", direction="DESCENDING"))
    assert descending == sorted(everything, key=lambda name: (len(name), name), reverse=True)


def test_two_orders_apply_one_after_the_other(shelf: Any) -> None:
    found = ids(shelf.order_by("length", direction="DESCENDING").order_by("v"))
    assert found == sorted(EVERY, key=lambda name: -len(name))


def test_filters_on_the_name_compare_documents(shelf: Any) -> None:
    after = shelf.where(filter=FieldFilter("__name__", ">", shelf.document("two-to-53")))
    assert ids(after) == ["two-to-53-plus-1", "without", "zero"]
    some = [shelf.document("zero"), shelf.document("nothing"), shelf.document("bytes")]
    assert ids(shelf.where(filter=FieldFilter("__name__", "in", some))) == ["bytes", "zero"]
    with pytest.raises(errors.InvalidArgument):
        ids(shelf.where(filter=FieldFilter("__name__", "==", 1)))


def test_a_limit_cuts_the_result(shelf: Any) -> None:
    everything = sorted([*EVERY, "without"])
    assert ids(shelf.limit(3)) == everything[:3]
    last = [snapshot.id for snapshot in shelf.order_by("v").limit_to_last(2).get(**ONCE)]
    assert last == ["map-a2", "map-b"]


def test_select_returns_the_chosen_fields(shelf: Any) -> None:
    query = shelf.where(filter=FieldFilter("v.a", "==", 1))
    assert [found.to_dict() for found in query.select(["v.b", "length"]).stream(**ONCE)] == [
        {"length": 6},
        {"length": 8, "v": {"b": 0}},
    ]
    assert [found.to_dict() for found in query.select([]).stream(**ONCE)] == [{}, {}]


@pytest.mark.parametrize(
    "refused",
    [
        lambda shelf: shelf.where(filter=FieldFilter("v", "in", list(range(31)))),
        lambda shelf: shelf.where(filter=FieldFilter("v", "in", [])),
        lambda shelf: shelf.where(filter=FieldFilter("a..b", "==", 1)),
        lambda shelf: shelf.order_by("v").order_by("v"),
        lambda shelf: shelf.order_by("__name__").order_by("v"),
        lambda shelf: shelf.limit(-1),
    ],
)
def test_malformed_queries_are_refused(shelf: Any, refused: Callable[[Any], Any]) -> None:
    with pytest.raises(errors.InvalidArgument):
        ids(refused(shelf))


def test_scanning_names_backwards_is_refused(shelf: Any) -> None:
    with pytest.raises(errors.FailedPrecondition):
        ids(shelf.order_by("__name__", direction="DESCENDING"))


def test_a_query_sees_its_own_collection_alone(database: firestore.Client) -> None:
    for path in ("turns/1", "threads/a/turns/2", "threads/b/turns/3", "threads/b/other/4"):
        database.document(path).set({"n": int(path[-1])}, **ONCE)
    assert ids(database.collection("turns")) == ["1"]
    assert ids(database.collection("threads/b/turns")) == ["3"]


def test_count_sees_what_the_query_finds(database: firestore.Client) -> None:
    numbers: Any = database.collection("numbers")
    for number, value in enumerate([1, 2, 6, "text", None]):
        numbers.document(str(number)).set({"n": value}, **ONCE)
    assert [(one.alias, one.value) for one in numbers.count("all").get(**ONCE)[0]] == [("all", 5)]
    few = numbers.where(filter=FieldFilter("n", ">", 1)).limit(1).count().get(**ONCE)
    assert [(one.alias, one.value) for one in few[0]] == [("field_1", 1)]


def test_get_all_tells_found_from_missing_and_applies_the_mask(database: firestore.Client) -> None:
    database.document("things/1").set({"a": {"b": 1, "c": 2}, "d": 3}, **ONCE)
    wanted = [database.document(f"things/{number}") for number in (1, 2, 1)]
    found = {one.id: one.to_dict() for one in database.get_all(wanted, field_paths=["a.b", "x"], **ONCE)}
    assert found == {"1": {"a": {"b": 1}}, "2": None}


def test_collections_are_listed_also_below_a_missing_document(database: firestore.Client) -> None:
    for path in ("a/1", "a/3", "a/2/b/x", "c/1"):
        database.document(path).set({}, **ONCE)
    assert [collection.id for collection in database.collections(**ONCE)] == ["a", "c"]
    assert [collection.id for collection in database.document("a/2").collections(**ONCE)] == ["b"]
    assert list(database.document("a/1").collections(**ONCE)) == []
