"""The Firestore contract, what is refused: names, sizes, depths."""

from datetime import UTC, datetime
from typing import Any

import pytest
from google.api_core import exceptions as errors
from google.cloud import firestore
from google.cloud.firestore_v1 import types

from tests.support.firestore_contract import MIB, ONCE, commit, stored

pytest_plugins = ["tests.support.firestore_servers"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("bad", [".", "..", "__x__"])
def test_reserved_ids_are_refused(database: firestore.Client, bad: str) -> None:
    for path in (("things", bad), (bad, "1")):
        with pytest.raises(errors.InvalidArgument):
            database.document(*path).set({}, **ONCE)
        with pytest.raises(errors.InvalidArgument):
            database.document(*path).get(**ONCE)


@pytest.mark.parametrize("long", ["x" * 1501, "é" * 751], ids=["ascii", "utf-8"])
def test_ids_of_more_than_1500_bytes_are_refused(database: firestore.Client, long: str) -> None:
    for path in (("things", long), (long, "1")):
        with pytest.raises(errors.InvalidArgument):
            database.document(*path).set({}, **ONCE)


@pytest.mark.parametrize("good", ["x" * 1500, "__id7__", "__", "a b:c%2F\n\0", "日本語🔒", "..."])
def test_other_ids_are_taken(database: firestore.Client, good: str) -> None:
    database.document("things", good).set({"n": 1}, **ONCE)
    assert [snapshot.id for snapshot in database.collection("things").stream(**ONCE)] == [good]


def test_ids_between_double_underscores_are_reserved_even_when_empty_inside(
    database: firestore.Client,
) -> None:
    with pytest.raises(errors.InvalidArgument):
        database.document("things", "____").set({}, **ONCE)


@pytest.mark.parametrize("name", ["things/", "things", "", "things//a/b"])
def test_names_with_empty_or_missing_ids_are_refused(database: firestore.Client, name: str) -> None:
    root = f"{database._database_string}/documents"
    with pytest.raises(errors.InvalidArgument):
        commit(database, types.Write(update={"name": f"{root}/{name}"}))


def test_a_document_of_another_database_is_refused(database: firestore.Client) -> None:
    name = "projects/other/databases/(default)/documents/things/1"
    with pytest.raises(errors.InvalidArgument):
        commit(database, types.Write(update={"name": name}))


@pytest.mark.parametrize("name", ["", "__x__", "x" * 1501])
def test_bad_field_names_are_refused(database: firestore.Client, name: str) -> None:
    document = database.document("things/1")
    with pytest.raises(errors.InvalidArgument):
        fields = {name: types.Value(integer_value=1)}
        commit(database, types.Write(update={"name": document._document_path, "fields": fields}))


@pytest.mark.parametrize("path", ["a..b", "1a", "a b", "a.", "`a"])
def test_malformed_field_paths_are_refused(database: firestore.Client, path: str) -> None:
    update = {"name": database.document("things/1")._document_path}
    with pytest.raises(errors.InvalidArgument):
        commit(database, types.Write(update=update, update_mask={"field_paths": [path]}))


@pytest.mark.parametrize(
    ("field", "size"),
    [
        (None, 1),
        (True, 1),
        (1, 8),
        (1.5, 8),
        (datetime(2026, 1, 1, tzinfo=UTC), 8),
        (firestore.GeoPoint(1, 2), 16),
        ("日本", 7),
        (b"abc", 3),
        ([], 1),
        ([1, 2], 16),
        ({}, 1),
        ({"ab": 1}, 11),
        ({"a": {"b": [True]}}, 5),
    ],
    ids=str,
)
def test_a_document_may_be_one_mib_by_the_rules_and_no_byte_more(
    database: firestore.Client, field: Any, size: int
) -> None:
    document = database.document("things/1")
    name = len("things") + 1 + len("1") + 1 + 16
    others = name + 32 + (2 + size) + (2 + 600_000 + 1) + (2 + 1)
    room = MIB - others
    document.set({"x": field, "s": "x" * 600_000, "t": "x" * room}, **ONCE)
    with pytest.raises(errors.InvalidArgument):
        document.set({"x": field, "s": "x" * 600_000, "t": "x" * (room + 1)}, **ONCE)
    assert len(stored(document)["t"]) == room


def test_a_reference_counts_like_the_name_it_holds(database: firestore.Client) -> None:
    document = database.document("a/b")
    room = MIB - (20 + 32) - (2 + 20) - (2 + 600_001) - (2 + 1)
    fields = {"x": database.document("c/d"), "s": "x" * 600_000}
    document.set({**fields, "t": "x" * room}, **ONCE)
    with pytest.raises(errors.InvalidArgument):
        document.set({**fields, "t": "x" * (room + 1)}, **ONCE)


@pytest.mark.parametrize("unit", ["x", b"x"])
def test_one_value_may_be_one_mib_less_89_bytes(database: firestore.Client, unit: Any) -> None:
    document = database.document("a/b")
    document.set({"s": unit * (MIB - 89)}, **ONCE)
    with pytest.raises(errors.InvalidArgument):
        document.set({"s": unit * (MIB - 88)}, **ONCE)


def test_requests_of_more_than_four_mib_are_taken(database: firestore.Client) -> None:
    batch = database.batch()
    for number in range(5):
        batch.set(database.document(f"things/{number}"), {"s": "x" * 1_000_000})
    assert len(batch.commit(**ONCE)) == 5


def _nested(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = {"a": leaf}
    return leaf


@pytest.mark.parametrize(("leaf", "levels"), [(1, 0), ([1], 1), ({}, 1), ([{"a": 1}], 2)], ids=str)
def test_maps_and_arrays_nest_twenty_deep(database: firestore.Client, leaf: Any, levels: int) -> None:
    document = database.document("things/1")
    document.set(_nested(21 - levels, leaf), **ONCE)
    with pytest.raises(errors.InvalidArgument):
        document.set(_nested(22 - levels, leaf), **ONCE)


def test_an_array_in_an_array_is_refused(database: firestore.Client) -> None:
    document = database.document("things/1")
    with pytest.raises(errors.InvalidArgument):
        document.set({"a": [[1]]}, **ONCE)
    document.set({"a": [{"b": [1]}]}, **ONCE)
