"""What the Firestore contract tests share, and how Google's emulator is known to differ from production."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from google.api_core import exceptions as errors
from google.cloud import firestore
from google.cloud.firestore_v1 import types

#: One attempt with a bound, so that a refusal is seen as it is.
ONCE: dict[str, Any] = {"retry": None, "timeout": 10.0}
MIB = 1024 * 1024

#: What the emulator does differently from production, by the test that must therefore fail on it.
GAPS = {
    "test_ids_between_double_underscores_are_reserved_even_when_empty_inside": "takes ____ as an id",
    "test_a_document_of_another_database_is_refused": "reads and writes across projects",
    "test_requests_of_more_than_four_mib_are_taken": "RESOURCE_EXHAUSTED above gRPC's 4 MiB",
    "test_who_reads_in_a_transaction_holds_up_nobody": "locks: the other writer is aborted after 2 s",
}


def at_once(work: Callable[[int], Any], times: int, threads: int) -> list[Any]:
    """What `work(0)`, `work(1)`, … return in `threads` threads; errors of the API are returned too."""

    def attempt(number: int) -> Any:
        try:
            return work(number)
        except errors.GoogleAPICallError as error:
            return error

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(attempt, range(times)))


def stored(reference: Any) -> Any:
    """The fields of a document, None when there is none."""
    return reference.get(**ONCE).to_dict()


def commit(database: firestore.Client, *writes: types.Write) -> Any:
    """Send writes that the SDK would not make by itself."""
    request = {"database": database._database_string, "writes": writes}
    return database._firestore_api.commit(request=request, **ONCE)
