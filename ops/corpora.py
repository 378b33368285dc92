"""The corpora of RAG Engine in one location, and their files."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ops.errors import Exit, OpsError, explaining_rag
from ops.settings import RAG_CREATE, RAG_DATA, RAG_LOOK
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError
from shared.runtime.retry import Policy, call

#: Seconds for a call with all its attempts.
WITHIN = 120.0
#: Source URIs that one import takes.
MOST_URIS = 25
#: Seconds between two looks at an operation. They double from the shortest up to the longest.
FIRST_LOOK, LATER_LOOKS = 0.2, 5.0
#: Longest time of an operation, and longest wait for other operations on the corpus, in seconds.
LONGEST, LONGEST_WAIT = 3600.0, 600.0
MODEL = "text-multilingual-embedding-002"
_BUSY = "operations running on the RagCorpus"


@dataclass(frozen=True)
class Corpus:
    """One corpus. `name` is its resource name. `model` is its embedding model, which never changes."""

    name: str
    display_name: str
    model: str
    created: datetime

    @property
    def location(self) -> str:
        """Its region."""
        return self.name.split("/")[3]


@dataclass(frozen=True)
class SourceFile:
    """One file of a corpus. `uri` is the `gs://` URI it came from, empty for other sources."""

    name: str
    uri: str
    display_name: str
    updated: datetime
    active: bool
    error: str


@dataclass
class Imported:
    """The result of an import: how many files were imported, unchanged or failed, and why."""

    imported: int = 0
    unchanged: int = 0
    failed: int = 0
    reasons: list[str] = field(default_factory=list)


class Corpora:
    """The corpora of a location. `client` is a `VertexRagDataServiceClient`.

    Raises OpsError if an operator can fix the problem, otherwise StepError.
    """

    def __init__(self, client: Any, project: str, location: str) -> None:
        self._client = client
        self._parent = f"projects/{project}/locations/{location}"

    def all(self) -> list[Corpus]:
        """Every corpus of the location, the oldest first."""
        found = self._pages(self._client.list_rag_corpora, "rag_corpora", self._parent)
        return sorted(map(_corpus, found), key=lambda corpus: corpus.created)

    def get(self, name: str) -> Corpus:
        """The corpus of this resource name."""
        return _corpus(self._call(self._client.get_rag_corpus, {"name": name}))

    def create(self, display_name: str, model: str) -> Corpus:
        """A new corpus in the managed database, whose scores are distances."""
        endpoint = model if "/" in model else f"{self._parent}/publishers/google/models/{model}"
        config = {
            "rag_managed_db": {},
            "rag_embedding_model_config": {"vertex_prediction_endpoint": {"endpoint": endpoint}},
        }
        corpus = {"display_name": display_name, "vector_db_config": config}
        request = {"parent": self._parent, "rag_corpus": corpus}
        operation = self._call(self._client.create_rag_corpus, request, RAG_CREATE)
        return _corpus(self._finished(operation, lambda percent: None))

    def files(self, corpus: str) -> list[SourceFile]:
        """Every file of a corpus."""
        return [_file(each) for each in self._pages(self._client.list_rag_files, "rag_files", corpus)]

    def import_files(
        self, corpus: str, uris: Sequence[str], on_progress: Callable[[float], None]
    ) -> Imported:
        """Import these objects of Cloud Storage; `on_progress` gets the share (0 to 1) that is done."""
        done = Imported()
        for first in range(0, len(uris), MOST_URIS):
            batch = list(uris[first : first + MOST_URIS])
            config = {"gcs_source": {"uris": batch}}
            request = {"parent": corpus, "import_rag_files_config": config}

            def tell(percent: int, first: int = first, batch: Sequence[str] = batch) -> None:
                on_progress((first + len(batch) * percent / 100) / len(uris))

            operation = self._when_free(self._client.import_rag_files, request)
            response = self._finished(operation, tell)
            done.imported += response.imported_rag_files_count
            done.unchanged += response.skipped_rag_files_count
            done.failed += response.failed_rag_files_count
            failures = operation.metadata.generic_metadata.partial_failures if operation.metadata else []
            done.reasons += [failure.message for failure in failures]
            tell(100)
        return done

    def delete_files(self, names: Iterable[str]) -> None:
        """Delete files of a corpus, one after the other."""
        for name in names:
            operation = self._when_free(self._client.delete_rag_file, {"name": name})
            self._finished(operation, lambda percent: None)

    def _pages(self, method: Any, field_name: str, parent: str) -> Iterator[Any]:
        token = ""
        while True:
            request = {"parent": parent, "page_size": 100, "page_token": token}
            # The pager fetches further pages without our time-outs; its first response is a whole page.
            response = next(iter(self._call(method, request).pages))
            yield from getattr(response, field_name)
            token = response.next_page_token
            if not token:
                return

    def _when_free(self, method: Any, request: dict[str, Any]) -> Any:
        """Begin an operation, waiting for others on the same corpus. Raises OpsError after `LONGEST_WAIT`."""
        for wait in _waits(LONGEST_WAIT):
            try:
                return self._call(method, request)
            except StepError as error:
                if _BUSY.lower() not in str(error.__cause__).lower():
                    raise
            time.sleep(wait)
        raise OpsError(
            "Another import or deletion is still running on this corpus. Run the same command again when it "
            "has ended. Files that are imported already are not imported again.",
            Exit.STOPPED,
        )

    def _finished(self, operation: Any, tell: Callable[[int], None]) -> Any:
        """The response of an operation once it is done; `tell` gets its percentage meanwhile."""
        for wait in _waits(LONGEST):
            if call(lambda _: operation.done(), RAG_LOOK, Deadline(WITHIN)):
                with explaining_rag(self._parent):
                    return operation.result(timeout=RAG_DATA.timeout)
            tell(getattr(operation.metadata, "progress_percentage", 0))
            time.sleep(wait)
        raise OpsError(
            f"{operation.operation.name} is still running after {LONGEST / 60:.0f} minutes. It "
            "continues by itself. Run the same command again later.",
            Exit.STOPPED,
        )

    def _call(self, method: Any, request: dict[str, Any], policy: Policy = RAG_DATA) -> Any:
        with explaining_rag(self._parent):
            return call(
                lambda timeout: method(request, retry=None, timeout=timeout), policy, Deadline(WITHIN)
            )


def _waits(longest: float) -> Iterator[float]:
    """The waits between two looks, in seconds, until `longest` is over."""
    until, wait = time.monotonic() + longest, FIRST_LOOK
    while time.monotonic() < until:
        yield wait
        wait = min(2 * wait, LATER_LOOKS)


def _corpus(message: Any) -> Corpus:
    model = message.vector_db_config.rag_embedding_model_config.vertex_prediction_endpoint.endpoint
    return Corpus(message.name, message.display_name, model.rsplit("/", 1)[-1], message.create_time)


def _file(message: Any) -> SourceFile:
    status = message.file_status
    return SourceFile(
        name=message.name,
        uri=next(iter(message.gcs_source.uris), ""),
        display_name=message.display_name,
        updated=message.update_time,
        active=status.state.name == "ACTIVE",
        error=status.error_status,
    )
