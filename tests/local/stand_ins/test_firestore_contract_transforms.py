"""The Firestore contract, what the server computes from the stored value."""

import math
from typing import Any

import pytest
from google.api_core import exceptions as errors
from google.cloud import firestore
from google.cloud.firestore_v1 import types

from tests.support.firestore_contract import ONCE, commit, stored

pytest_plugins = ["tests.support.firestore_servers"]
pytestmark = pytest.mark.slow


def test_array_union_adds_what_is_not_there_yet(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"a": [1, "x", "x"]}, **ONCE)
    document.update({"a": firestore.ArrayUnion([1.0, True, None, "x", {"k": 1}, 5, 5.0])}, **ONCE)
    document.update({"a": firestore.ArrayUnion([{"k": 1.0}, None])}, **ONCE)
    array = stored(document)["a"]
    assert array == [1, "x", "x", True, None, {"k": 1}, 5]
    assert [type(element) for element in array[:4]] == [int, str, str, bool]


def test_array_remove_takes_out_every_equal_element(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"a": [1, 1.0, 2, True]}, **ONCE)
    document.update({"a": firestore.ArrayRemove([1])}, **ONCE)
    assert stored(document) == {"a": [2, True]}


def test_array_changes_replace_what_is_no_array(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"a": "text"}, **ONCE)
    document.update({"a": firestore.ArrayUnion([1]), "b.c": firestore.ArrayRemove([1])}, **ONCE)
    assert stored(document) == {"a": [1], "b": {"c": []}}


@pytest.mark.parametrize(
    ("before", "step", "after"),
    [
        (None, 2, 2),
        (1, 2, 3),
        (1, 0.5, 1.5),
        (1.5, 1, 2.5),
        ("text", 2, 2),
        (2**63 - 1, 1, 2**63 - 1),
        (-(2**63), -1, -(2**63)),
    ],
)
def test_increment_adds_and_stops_at_the_ends_of_the_integers(
    database: firestore.Client, before: Any, step: float, after: float
) -> None:
    document = database.document("things/1")
    document.set({"n": before} if before is not None else {}, **ONCE)
    document.update({"n": firestore.Increment(step)}, **ONCE)
    assert stored(document) == {"n": after}
    assert type(stored(document)["n"]) is type(after)


@pytest.mark.parametrize(
    ("transform", "before", "after"),
    [
        (firestore.Maximum, 3, 5),
        (firestore.Maximum, 7, 7),
        (firestore.Maximum, 5.0, 5.0),
        (firestore.Maximum, "text", 5),
        (firestore.Minimum, 7, 5),
        (firestore.Minimum, 3, 3),
        (firestore.Minimum, 5.0, 5.0),
    ],
)
def test_maximum_and_minimum_keep_one_of_the_two(
    database: firestore.Client, transform: Any, before: Any, after: float
) -> None:
    document = database.document("things/1")
    document.set({"n": before}, **ONCE)
    document.update({"n": transform(5)}, **ONCE)
    assert stored(document) == {"n": after}
    assert type(stored(document)["n"]) is type(after)


def test_not_a_number_wins_every_comparison(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"a": 1, "b": math.nan}, **ONCE)
    document.update({"a": firestore.Maximum(math.nan), "b": firestore.Minimum(1)}, **ONCE)
    assert math.isnan(stored(document)["a"])
    assert math.isnan(stored(document)["b"])


def test_increment_refuses_what_is_no_number(database: firestore.Client) -> None:
    document = database.document("things/1")
    step = {"field_path": "n", "increment": types.Value(string_value="1")}
    write = types.Write(update={"name": document._document_path}, update_transforms=[step])
    with pytest.raises(errors.InvalidArgument):
        commit(database, write)
    assert stored(document) is None


def test_the_server_time_has_milliseconds_and_is_one_for_a_whole_batch(database: firestore.Client) -> None:
    batch = database.batch()
    for number in (1, 2):
        batch.set(database.document(f"things/{number}"), {"t": firestore.SERVER_TIMESTAMP})
    batch.commit(**ONCE)
    first, second = (database.document(f"things/{number}").get(**ONCE) for number in (1, 2))
    assert first.get("t") == second.get("t")
    assert first.get("t").microsecond % 1000 == 0
    assert abs((first.get("t") - first.update_time).total_seconds()) < 5
