"""What only our own Firestore promises: its state survives, nobody waits, and it says what it cannot do."""

import itertools
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.api_core import exceptions as errors
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter, Or

from local.stand_ins.faults import Faults
from local.stand_ins.firestore.protos import Document
from local.stand_ins.firestore.service import Firestore
from local.stand_ins.firestore.store import Store
from tests.support.firestore_contract import ONCE, at_once, commit, stored
from tests.support.serving import serving

_PROGRAM = """
import asyncio, pathlib, sys
from local.stand_ins.faults import Faults
from local.stand_ins.firestore.service import Firestore
from local.stand_ins.grpc_server import GrpcServer

async def serve():
    stand_in = Firestore(pathlib.Path(sys.argv[1]))
    await stand_in.start()
    server = GrpcServer("firestore", stand_in.handlers(), Faults())
    print(await server.start(), flush=True)
    await asyncio.sleep(3600)

asyncio.run(serve())
"""


@contextmanager
def connected(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[firestore.Client]:
    """The SDK, talking to `address`."""
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", address)
    client = firestore.Client(project="demo", credentials=AnonymousCredentials())
    try:
        yield client
    finally:
        client.close()


@contextmanager
def running(state: Path | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[firestore.Client]:
    """Our Firestore on `state`, with the SDK in front of it."""
    with (
        serving("firestore", Firestore(state), Faults()) as address,
        connected(address, monkeypatch) as client,
    ):
        yield client


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[firestore.Client]:
    """Our Firestore, in memory."""
    with running(None, monkeypatch) as client:
        yield client


def test_documents_and_their_versions_survive_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "new" / "firestore.db"
    with running(state, monkeypatch) as database:
        database.document("things/1").set({"turns": [{"text": "日本語"}]}, **ONCE)
        database.document("things/2").set({}, **ONCE)
        database.document("things/2").delete(**ONCE)
        seen: Any = database.document("things/1").get(**ONCE)
    with running(state, monkeypatch) as database:
        document = database.document("things/1")
        again: Any = document.get(**ONCE)
        assert (again.to_dict(), again.create_time) == (seen.to_dict(), seen.create_time)
        assert [found.id for found in database.collection("things").stream(**ONCE)] == ["1"]
        document.update({"n": 1}, option=database.write_option(last_update_time=seen.update_time), **ONCE)
        changed: Any = document.get(**ONCE)
        assert changed.update_time > seen.update_time


def test_times_go_on_increasing_when_the_clock_was_put_back(tmp_path: Path) -> None:
    ahead = Document(name="projects/p/databases/d/documents/a/b")
    ahead.update_time.FromMicroseconds(time.time_ns() // 1000 + 3_600_000_000)
    store = Store(tmp_path / "firestore.db")
    store.open()
    store.put({ahead.name: ahead})
    store.close()
    store.open()
    try:
        assert store.now() >= ahead.update_time.ToMicroseconds()
        assert store.next_commit() > ahead.update_time.ToMicroseconds()
    finally:
        store.close()


@pytest.mark.slow
def test_a_process_that_is_killed_loses_no_committed_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, committed, enough = tmp_path / "firestore.db", set[str](), threading.Event()
    program = [sys.executable, "-c", _PROGRAM, str(state)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        with connected(f"127.0.0.1:{port}", monkeypatch) as database:

            def write_until_it_dies(worker: int) -> None:
                while True:
                    name = f"{worker}-{uuid.uuid4().hex}"
                    database.document(f"things/{name}").create({"text": "x" * 2000}, **ONCE)
                    committed.add(name)
                    if len(committed) >= 300:
                        enough.set()

            def kill() -> None:
                enough.wait(60)
                process.kill()

            killer = threading.Thread(target=kill)
            killer.start()
            answers = at_once(write_until_it_dies, times=4, threads=4)
            killer.join()
    assert all(isinstance(answer, errors.ServiceUnavailable) for answer in answers)
    with running(state, monkeypatch) as database:
        survivors = {found.id for found in database.collection("things").stream(**ONCE)}
    assert len(committed) >= 300
    assert committed <= survivors


def test_a_state_in_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "firestore.db"
    with (
        running(state, monkeypatch),
        pytest.raises(OSError, match="is another one running on it"),
        serving("firestore", Firestore(state), Faults()),
    ):
        pass


def test_a_file_that_is_no_state_is_refused_and_left_alone(tmp_path: Path) -> None:
    state = tmp_path / "notes.txt"
    state.write_text("Not a database, but somebody's notes. " * 100)
    with pytest.raises(OSError, match=r"notes\.txt"), serving("firestore", Firestore(state), Faults()):
        pass
    assert state.read_text().startswith("Not a database")


def test_an_expired_document_stays_readable(database: firestore.Client) -> None:
    document = database.document("chat_threads/1")
    document.set({"expired_at": datetime(2026, 1, 1, tzinfo=UTC)}, **ONCE)
    assert document.get(**ONCE).exists
    assert len(list(database.collection("chat_threads").stream(**ONCE))) == 1


def test_contending_transactions_lose_nothing(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"n": 0}, **ONCE)

    @firestore.transactional
    def add_one(transaction: Any) -> None:
        number = document.get(transaction=transaction, **ONCE).get("n")
        transaction.update(document, {"n": number + 1})

    at_once(lambda _: add_one(database.transaction(max_attempts=100)), times=24, threads=4)
    assert stored(document) == {"n": 24}


def test_a_transaction_that_never_gets_through_gives_up(database: firestore.Client) -> None:
    document = database.document("things/1")
    document.set({"n": 0}, **ONCE)
    others = itertools.count(1)

    @firestore.transactional
    def lose(transaction: Any) -> None:
        document.get(transaction=transaction, **ONCE)
        document.update({"n": next(others)}, **ONCE)
        transaction.update(document, {"n": -1})

    with pytest.raises(ValueError, match="5 attempts"):
        lose(database.transaction())
    assert stored(document) == {"n": 5}


def test_a_transaction_notices_that_a_missing_document_came_to_be(database: firestore.Client) -> None:
    document = database.document("things/1")
    transaction: Any = database.transaction()
    transaction._begin()
    assert not document.get(transaction=transaction, **ONCE).exists
    document.set({"by": "somebody else"}, **ONCE)
    transaction.set(document, {"by": "us"})
    with pytest.raises(errors.Aborted):
        transaction._commit()
    assert stored(document) == {"by": "somebody else"}


def test_a_transaction_ends_once(database: firestore.Client) -> None:
    transaction: Any = database.transaction()
    transaction._begin()
    request = {"database": database._database_string, "transaction": transaction.id}
    database._firestore_api.commit(request=request, **ONCE)
    with pytest.raises(errors.InvalidArgument):
        database._firestore_api.commit(request=request, **ONCE)


def _call(method: str, **request: Any) -> Callable[[firestore.Client], Any]:
    def call(client: firestore.Client) -> Any:
        root = {"database": client._database_string, "parent": f"{client._database_string}/documents"}
        wanted = {
            key: root.get(value, value) if isinstance(value, str) else value for key, value in request.items()
        }
        answer = getattr(client._firestore_api, method)(request=wanted, **ONCE)
        return list(answer) if hasattr(answer, "__iter__") else answer

    return call


def _found(query: Callable[[Any], Any]) -> Callable[[firestore.Client], Any]:
    return lambda client: list(query(client.collection("a")).stream(**ONCE))


def _where(op: str, value: Any) -> Callable[[firestore.Client], Any]:
    return _found(lambda collection: collection.where(filter=FieldFilter("n", op, value)))


def _set(value: Any) -> Callable[[firestore.Client], Any]:
    return lambda client: client.document("a/1").set({"n": value}, **ONCE)


_QUERY = {"from_": [{"collection_id": "a"}]}
_LONG_AGO = {"seconds": 1}


@pytest.mark.parametrize(
    "call",
    [
        _call("get_document", name="a"),
        _call("partition_query", parent="parent", structured_query=_QUERY),
        _call("run_query", parent="parent", structured_query={}),
        _call("run_query", parent="parent", structured_query=_QUERY, read_time=_LONG_AGO),
        _call("run_query", parent="parent", structured_query=_QUERY, transaction=b"t"),
        _call("run_query", parent="parent", structured_query=_QUERY, explain_options={"analyze": True}),
        _call("run_query", parent="parent", structured_query={**_QUERY, "find_nearest": {}}),
        _call("batch_get_documents", database="database", read_time=_LONG_AGO),
        _call("batch_get_documents", database="database", new_transaction={"read_only": {}}),
        _call("begin_transaction", database="database", options={"read_only": {}}),
        _call("list_documents", parent="parent", collection_id="a"),
        _call("list_collection_ids", parent="parent", read_time=_LONG_AGO),
        _call("list_collection_ids", parent="parent", page_size=2),
        _call("batch_write", database="database"),
        _where("!=", 1),
        _where("==", None),
        _where("not-in", [1]),
        _where("array_contains", 1),
        _where("array_contains_any", [1]),
        _found(lambda collection: collection.where(filter=Or([FieldFilter("n", "==", 1)]))),
        _found(lambda collection: collection.offset(1)),
        _found(lambda collection: collection.order_by("n").start_at({"n": 1})),
        lambda client: list(client.collection_group("a").stream(**ONCE)),
        lambda client: client.collection("a").sum("n").get(**ONCE),
        lambda client: client.collection("a").avg("n").get(**ONCE),
        lambda client: client.collection("a").count().sum("n").get(**ONCE),
        _set(firestore.SERVER_TIMESTAMP),
        _set(firestore.Increment(1)),
        _set(firestore.ArrayUnion([1])),
    ],
)
def test_what_is_not_implemented_says_so(
    database: firestore.Client, call: Callable[[firestore.Client], Any]
) -> None:
    with pytest.raises(errors.MethodNotImplemented):
        call(database)


def test_a_commit_of_more_than_ten_mib_is_refused_whole(database: firestore.Client) -> None:
    batch = database.batch()
    for number in range(11):
        batch.set(database.document(f"things/{number}"), {"s": "x" * 1_000_000})
    with pytest.raises(errors.InvalidArgument, match="payload size"):
        batch.commit(**ONCE)
    assert list(database.collections(**ONCE)) == []


def test_a_refusal_names_the_document(database: firestore.Client) -> None:
    with pytest.raises(errors.NotFound, match=r"No document to update: projects/demo/.*/things/1"):
        database.document("things/1").update({"n": 1}, **ONCE)


def test_an_empty_commit_has_a_time(database: firestore.Client) -> None:
    assert commit(database).commit_time is not None
