"""The Firestore contract, one document: what is written is read back, and preconditions hold."""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions as errors
from google.cloud import firestore
from google.cloud.firestore_v1 import types

from tests.support.firestore_contract import GAPS, ONCE, commit, stored

pytest_plugins = ["tests.support.firestore_servers"]
pytestmark = pytest.mark.slow


def test_every_named_gap_belongs_to_a_test() -> None:
    contract = "".join(path.read_text() for path in Path(__file__).parent.glob("test_firestore_contract*.py"))
    assert [name for name in GAPS if f"def {name}(" not in contract] == []


def test_values_of_every_type_come_back_as_they_were(database: firestore.Client) -> None:
    fields = {
        "null": None,
        "bool": True,
        "int": -(2**63),
        "double": 0.1,
        "infinity": math.inf,
        "time": datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC),
        "text": "VPNの設定方法 🔒\n\0",
        "bytes": b"\0\xff",
        "reference": database.document("a/b"),
        "place": firestore.GeoPoint(35.6, 139.7),
        "array": [1, "b", {"c": []}],
        "map": {"ä ö": {"x.y": 1}},
        "empty": {},
    }
    database.document("things/1").set(fields, **ONCE)
    assert stored(database.document("things/1")) == fields


def test_a_missing_document_is_read_as_missing(database: firestore.Client) -> None:
    snapshot = database.document("things/none").get(**ONCE)
    assert not snapshot.exists
    assert snapshot.read_time is not None


def test_create_refuses_an_existing_document(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.create({"n": 1}, **ONCE)
    with pytest.raises(errors.AlreadyExists):
        document.create({"n": 2}, **ONCE)
    assert stored(document) == {"n": 1}


def test_update_refuses_a_missing_document(database: firestore.Client) -> None:
    with pytest.raises(errors.NotFound):
        database.document("things/1").update({"n": 1}, **ONCE)
    assert stored(database.document("things/1")) is None


def test_deleting_a_missing_document_is_fine_unless_it_must_exist(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.delete(**ONCE)
    with pytest.raises(errors.NotFound):
        document.delete(option=database.write_option(exists=True), **ONCE)
    document.set({"n": 1}, **ONCE)
    document.delete(option=database.write_option(exists=True), **ONCE)
    assert stored(document) is None


def test_a_stale_update_time_fails_the_write(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"n": 1}, **ONCE)
    stale = database.write_option(last_update_time=document.get(**ONCE).update_time)
    document.update({"n": 2}, option=stale, **ONCE)
    for attempt in (
        lambda: document.update({"n": 3}, option=stale, **ONCE),
        lambda: document.delete(option=stale, **ONCE),
    ):
        with pytest.raises(errors.FailedPrecondition):
            attempt()
    assert stored(document) == {"n": 2}


def test_an_update_time_does_not_match_a_missing_document(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"n": 1}, **ONCE)
    option = database.write_option(last_update_time=document.get(**ONCE).update_time)
    document.delete(**ONCE)
    with pytest.raises(errors.FailedPrecondition):
        document.update({"n": 2}, option=option, **ONCE)
    with pytest.raises(errors.FailedPrecondition):
        document.delete(option=option, **ONCE)


def test_a_write_that_changes_nothing_keeps_the_update_time(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"n": 1, "nan": math.nan}, **ONCE)
    first = document.get(**ONCE).update_time
    document.set({"n": 1, "nan": math.nan}, **ONCE)
    assert document.set({"n": 1}, merge=True, **ONCE).update_time == first
    assert document.get(**ONCE).update_time == first
    document.update({"n": 2}, option=database.write_option(last_update_time=first), **ONCE)


def test_one_as_a_double_is_a_change(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"n": 1}, **ONCE)
    first = document.get(**ONCE).update_time
    assert document.set({"n": 1.0}, **ONCE).update_time > first


def test_update_times_increase_with_every_change_and_the_create_time_stays(
    database: firestore.Client,
) -> None:
    document = database.document("things/1")
    times: list[Any] = [document.set({"n": n}, **ONCE).update_time for n in range(20)]
    snapshot: Any = document.get(**ONCE)
    assert times == sorted(set(times))
    assert all(time.nanosecond % 1000 == 0 for time in times)
    assert (snapshot.create_time, snapshot.update_time) == (times[0], times[-1])
    assert snapshot.read_time >= times[-1]


def test_a_document_made_again_after_its_deletion_is_a_new_one(database: firestore.Client) -> None:
    document = database.document("things/1")
    first = document.create({"n": 1}, **ONCE).update_time
    document.delete(**ONCE)
    document.create({"n": 1}, **ONCE)
    assert document.get(**ONCE).create_time > first


def test_timestamps_are_cut_to_microseconds(database: firestore.Client) -> None:
    name = database.document("things/1")._document_path
    stamp = types.Value(timestamp_value={"seconds": 5, "nanos": 123456789})
    inside = types.Value(map_value={"fields": {"a": types.Value(array_value={"values": [stamp]})}})
    commit(database, types.Write(update={"name": name, "fields": {"t": inside}}))
    request = {"database": database._database_string, "documents": [name]}
    (answer,) = database._firestore_api.batch_get_documents(request=request, **ONCE)
    cut = types.Document.pb(answer.found).fields["t"].map_value.fields["a"].array_value.values[0]
    assert cut.timestamp_value.nanos == 123456000


def test_a_merge_touches_only_the_given_fields(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"map": {"a": 1, "b": 2}, "n": 1, "scalar": 7}, **ONCE)
    document.set({"map": {"a": 3}, "scalar": {"deep": True}}, merge=True, **ONCE)
    assert stored(document) == {"map": {"a": 3, "b": 2}, "n": 1, "scalar": {"deep": True}}
    database.document("things/2").set({"n": 1}, merge=True, **ONCE)
    assert stored(database.document("things/2")) == {"n": 1}


def test_set_without_merge_replaces_the_document(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"old": 1}, **ONCE)
    document.set({"new": 1}, **ONCE)
    assert stored(document) == {"new": 1}


def test_update_reaches_into_maps_by_dotted_paths(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"map": {"a": 1, "b": 2, "c": 3}, "n": 1}, **ONCE)
    changes = {
        "map.a": 9,
        "map.b": firestore.DELETE_FIELD,
        "new.deep": 1,
        "none.at.all": firestore.DELETE_FIELD,
    }
    document.update(changes, **ONCE)
    assert stored(document) == {"map": {"a": 9, "c": 3}, "n": 1, "new": {"deep": 1}}


def test_a_dot_is_part_of_the_name_in_set_and_of_the_path_in_update(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"a.b": 1}, **ONCE)
    document.update({"a.b": 2, "`a.b`": 3}, **ONCE)
    assert stored(document) == {"a.b": 3, "a": {"b": 2}}
