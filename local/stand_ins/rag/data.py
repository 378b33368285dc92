"""RAG Engine's data over gRPC: the calls of `VertexRagDataService` that `python -m ops knowledge` makes.

It imports Markdown and plain text from the local Cloud Storage; other files fail. The old version of a
changed file stays beside the new one, because the real behaviour is not documented. Only one operation at a
time may change a corpus.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty
from google.rpc import status_pb2

from local.stand_ins.grpc_server import RpcError, failed_precondition, invalid, not_found, page, unary
from local.stand_ins.rag import protos
from local.stand_ins.rag.corpora import Corpora, Corpus
from local.stand_ins.rag.operations import Operations
from local.stand_ins.rag.resources import (
    CORPUS,
    DEFAULT_MODEL,
    FILE,
    LOCATION,
    corpus_message,
    file_message,
    name_of,
)
from local.stand_ins.storage.objects import Objects, StoredObject

SERVICE = "google.cloud.aiplatform.v1.VertexRagDataService"
#: The most URIs in one ImportRagFiles.
MOST_URIS = 25
#: The files that can be imported here.
KINDS = (".md", ".txt")
#: Seconds per file. The real engine takes longer; callers must not expect an import to end at once.
A_FILE_TAKES = 0.01


class RagData:
    """Corpora and their files, imported from the objects of Cloud Storage."""

    def __init__(self, corpora: Corpora, objects: Objects, *, a_file_takes: float = A_FILE_TAKES) -> None:
        self._corpora = corpora
        self._objects = objects
        self._operations = Operations()
        self._a_file_takes = a_file_takes

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The handlers of the service and its operations; other methods answer UNIMPLEMENTED."""
        work = {
            "CreateRagCorpus": (self._create, "CreateRagCorpusRequest"),
            "GetRagCorpus": (self._get, "GetRagCorpusRequest"),
            "ListRagCorpora": (self._list, "ListRagCorporaRequest"),
            "ImportRagFiles": (self._import, "ImportRagFilesRequest"),
            "ListRagFiles": (self._list_files, "ListRagFilesRequest"),
            "DeleteRagFile": (self._delete_file, "DeleteRagFileRequest"),
        }
        methods = {
            name: unary(_checked(method), protos.CLASSES[request]) for name, (method, request) in work.items()
        }
        return [grpc.method_handlers_generic_handler(SERVICE, methods), self._operations.handler()]

    async def stop(self) -> None:
        """Cancel the running operations."""
        await self._operations.stop()

    async def _create(self, request: Any) -> Any:
        _checked_location(request.parent)
        asked = request.rag_corpus
        if not 0 < len(asked.display_name) <= 128:
            raise invalid("display_name must have 1 to 128 characters")
        model = asked.vector_db_config.rag_embedding_model_config.vertex_prediction_endpoint.endpoint
        default = f"{request.parent}/publishers/google/models/{DEFAULT_MODEL}"
        names = request.parent, asked.display_name, asked.description, model or default
        corpus = self._corpora.create(*names)

        async def work() -> Any:
            return corpus_message(corpus)

        return self._begin(name_of(corpus), "CreateRagCorpusOperationMetadata", work)

    async def _get(self, request: Any) -> Any:
        return corpus_message(self._corpus(request.name))

    async def _list(self, request: Any) -> Any:
        corpora = {each.id: each for each in self._corpora.of(_checked_location(request.parent))}
        shown, token = page(corpora, request)
        found = [corpus_message(corpora[each]) for each in shown]
        return protos.CLASSES["ListRagCorporaResponse"](rag_corpora=found, next_page_token=token)

    async def _list_files(self, request: Any) -> Any:
        corpus = self._corpus(request.parent)
        files = {each.id: each for each in self._corpora.files(corpus.id)}
        shown, token = page(files, request)
        found = [file_message(files[each], request.parent) for each in shown]
        return protos.CLASSES["ListRagFilesResponse"](rag_files=found, next_page_token=token)

    async def _delete_file(self, request: Any) -> Any:
        match = FILE.fullmatch(request.name)
        corpus = self._corpus(match["name"] if match else request.name)
        if match is None or match["file"] not in {each.id for each in self._corpora.files(corpus.id)}:
            raise not_found(f"RagFile {request.name} is not found")

        async def work() -> Any:
            self._corpora.delete(match["file"])
            self._corpora.index(corpus.id)
            return Empty()

        self._check_free(match["name"])
        return self._begin(match["name"], "DeleteOperationMetadata", work)

    async def _import(self, request: Any) -> Any:
        corpus = self._corpus(request.parent)
        uris = list(request.import_rag_files_config.gcs_source.uris)
        if not uris or not all(uri.startswith("gs://") for uri in uris):
            raise invalid("gcs_source.uris must be gs:// URIs")
        if len(uris) > MOST_URIS:
            raise invalid(f"at most {MOST_URIS} URIs can be imported at once, not {len(uris)}")
        self._check_free(request.parent)
        metadata = protos.CLASSES["ImportRagFilesOperationMetadata"](
            import_rag_files_config=request.import_rag_files_config
        )

        async def work() -> Any:
            return await self._import_all(corpus, uris, metadata)

        return self._operations.begin(request.parent, metadata, work)

    async def _import_all(self, corpus: Corpus, uris: list[str], metadata: Any) -> Any:
        found: list[tuple[str, StoredObject | None]] = []
        for uri in uris:
            found += [(each.uri, each) for each in self._objects.at(uri)] or [(uri, None)]
        response = protos.CLASSES["ImportRagFilesResponse"]()
        for number, (uri, stored) in enumerate(found, start=1):
            await asyncio.sleep(self._a_file_takes)
            try:
                done = self._corpora.put(corpus.id, uri, _text(uri, stored))
            except RpcError as error:
                response.failed_rag_files_count += 1
                failure = status_pb2.Status(code=error.code.value[0], message=str(error))
                metadata.generic_metadata.partial_failures.append(failure)
            else:
                response.imported_rag_files_count += done
                response.skipped_rag_files_count += not done
            metadata.progress_percentage = 100 * number // len(found)
        self._corpora.index(corpus.id)
        return response

    def _begin(self, resource: str, metadata: str, work: Callable[[], Awaitable[Any]]) -> Any:
        return self._operations.begin(resource, protos.CLASSES[metadata](), work)

    def _corpus(self, name: str) -> Corpus:
        match = CORPUS.fullmatch(name)
        if match is None:
            raise invalid(f"a corpus is projects/*/locations/*/ragCorpora/*, not {name!r}")
        corpus = self._corpora.corpus(match["corpus"], match["parent"])
        if corpus is None:
            raise not_found(f"RagCorpus {name} is not found")
        return corpus

    def _check_free(self, corpus: str) -> None:
        if running := self._operations.running(corpus):
            raise failed_precondition(
                f'There are other operations running on the RagCorpus "{corpus}". '
                f"Operation IDs are: {running}.",
            )


def _checked(work: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
    async def answer(request: Any) -> Any:
        protos.check_known(request)
        return await work(request)

    return answer


def _checked_location(parent: str) -> str:
    if not LOCATION.fullmatch(parent):
        raise invalid(f"parent must be projects/*/locations/*, not {parent!r}")
    return parent


def _text(uri: str, stored: StoredObject | None) -> str:
    """The text of an object. Raises RpcError if there is none, or if it cannot be imported here."""
    if stored is None:
        raise not_found(f"Object {uri} is not found")
    if not uri.endswith(KINDS):
        raise invalid(f"{uri}: only {' and '.join(KINDS)} can be imported here")
    try:
        return stored.content.decode("utf-8")
    except UnicodeDecodeError:
        raise invalid(f"{uri} is not UTF-8") from None
