"""The Firestore contract, batches, races and transactions."""

from typing import Any

import pytest
from google.api_core import exceptions as errors
from google.cloud import firestore
from google.cloud.firestore_v1 import types

from tests.support.firestore_contract import ONCE, at_once, stored

pytest_plugins = ["tests.support.firestore_servers"]
pytestmark = pytest.mark.slow


def test_a_batch_is_all_or_nothing(database: firestore.Client) -> None:
    database.document("things/2").set({"n": 1}, **ONCE)
    database.document("things/3").set({"n": 1}, **ONCE)
    batch = database.batch()
    batch.create(database.document("things/1"), {"n": 2})
    batch.update(database.document("things/2"), {"n": 2})
    batch.create(database.document("things/3"), {"n": 2})
    with pytest.raises(errors.AlreadyExists):
        batch.commit(**ONCE)
    assert [stored(database.document(f"things/{n}")) for n in (1, 2, 3)] == [None, {"n": 1}, {"n": 1}]


def test_a_batch_may_write_one_document_twice(database: firestore.Client) -> None:
    document = database.document("things/1")
    batch = database.batch()
    batch.create(document, {"n": 1})
    batch.update(document, {"n": 2, "seen": ["a"]})
    results = batch.commit(**ONCE)
    assert stored(document) == {"n": 2, "seen": ["a"]}
    assert [result.update_time for result in results] == [document.get(**ONCE).update_time] * 2


def test_a_batch_takes_more_than_five_hundred_writes(database: firestore.Client) -> None:
    batch = database.batch()
    for number in range(501):
        batch.set(database.document(f"things/{number}"), {"n": number})
    assert len(batch.commit(**ONCE)) == 501


def test_a_batch_with_a_duplicate_guard_is_written_once(database: firestore.Client) -> None:
    def deliver(number: int) -> Any:
        batch = database.batch()
        batch.create(database.document(f"messages/{number // 4}"), {})
        batch.create(database.document(f"runs/{number}"), {})
        return batch.commit(**ONCE)

    answers = at_once(deliver, times=80, threads=8)
    assert sum(isinstance(answer, errors.AlreadyExists) for answer in answers) == 60
    assert len(database.collection("runs").get(**ONCE)) == 20


def test_of_twenty_that_create_one_wins(database: firestore.Client) -> None:
    document = database.document("things/1")
    answers = at_once(lambda number: document.create({"by": number}, **ONCE), times=20, threads=20)
    losers = [answer for answer in answers if isinstance(answer, errors.AlreadyExists)]
    winners = [number for number, answer in enumerate(answers) if isinstance(answer, types.WriteResult)]
    assert (len(winners), len(losers)) == (1, 19)
    assert stored(document) == {"by": winners[0]}


def test_compare_and_set_loses_nothing_under_eight_threads(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"seen": []}, **ONCE)

    def append(number: int) -> int:
        for attempt in range(200):
            snapshot = document.get(**ONCE)
            option = database.write_option(last_update_time=snapshot.update_time)
            try:
                document.update({"seen": [*snapshot.get("seen"), number]}, option=option, **ONCE)
            except errors.FailedPrecondition:
                continue
            return attempt
        raise AssertionError("never came through")

    at_once(append, times=40, threads=8)
    assert sorted(stored(document)["seen"]) == list(range(40))


def test_a_transaction_reads_and_writes(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"n": 1}, **ONCE)

    @firestore.transactional
    def double(transaction: Any) -> None:
        number = document.get(transaction=transaction, **ONCE).get("n")
        transaction.update(document, {"n": number * 2})

    double(database.transaction())
    assert stored(document) == {"n": 2}


def test_a_transaction_that_fails_writes_nothing(database: firestore.Client) -> None:
    document = database.document("things/1")

    @firestore.transactional
    def fail(transaction: Any) -> None:
        document.get(transaction=transaction, **ONCE)
        transaction.set(document, {"n": 1})
        raise LookupError

    with pytest.raises(LookupError):
        fail(database.transaction())
    assert stored(document) is None


def test_who_reads_in_a_transaction_holds_up_nobody(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"n": 1}, **ONCE)
    transaction = database.transaction()
    transaction._begin()
    document.get(transaction=transaction, **ONCE)
    try:
        document.update({"n": 2}, **ONCE)
    finally:
        transaction._rollback()
    assert stored(document) == {"n": 2}


def test_a_batch_get_begins_a_transaction(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"n": 1}, **ONCE)
    request = {
        "database": database._database_string,
        "documents": [document._document_path, f"{document._document_path}0"],
        "new_transaction": {"read_write": {}},
    }
    first, *others = database._firestore_api.batch_get_documents(request=request, **ONCE)
    assert first.transaction
    assert all(not other.transaction for other in others)
    assert sorted(bool(answer.missing) for answer in (first, *others) if answer.found or answer.missing) == [
        False,
        True,
    ]
    write = types.Write(update={"name": document._document_path, "fields": {"n": {"integer_value": 2}}})
    commit = {"database": database._database_string, "writes": [write], "transaction": first.transaction}
    database._firestore_api.commit(request=commit, **ONCE)
    assert stored(document) == {"n": 2}
