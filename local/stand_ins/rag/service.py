"""RAG Engine's retrieval over gRPC: `VertexRagService.RetrieveContexts` on one corpus."""

from typing import Any

import grpc

from local.stand_ins.grpc_server import invalid, not_found, unary
from local.stand_ins.rag import protos
from local.stand_ins.rag.corpora import Corpora
from local.stand_ins.rag.index import Hit, Index
from local.stand_ins.rag.resources import CORPUS, LOCATION

SERVICE = "google.cloud.aiplatform.v1.VertexRagService"
#: The number of contexts if the request names none.
DEFAULT_TOP_K = 10


class Rag:
    """Answers `RetrieveContexts` from a corpus. A context's score is a distance: smaller is better."""

    def __init__(self, corpora: Corpora) -> None:
        self._corpora = corpora

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The handler of the service; its other methods answer UNIMPLEMENTED."""
        methods = {"RetrieveContexts": unary(self._retrieve, protos.RetrieveContextsRequest)}
        return [grpc.method_handlers_generic_handler(SERVICE, methods)]

    async def _retrieve(self, request: Any) -> Any:
        index = self._checked(request)
        config = request.query.rag_retrieval_config
        hits = index.search(request.query.text, config.top_k or DEFAULT_TOP_K)
        if config.filter.HasField("vector_distance_threshold"):
            hits = [hit for hit in hits if hit.distance < config.filter.vector_distance_threshold]
        contexts = protos.RagContexts(contexts=[_context(hit) for hit in hits])
        return protos.RetrieveContextsResponse(contexts=contexts)

    def _checked(self, request: Any) -> Index:
        """The index of the request. Raises RpcError for what is malformed, unknown or not served."""
        location = LOCATION.fullmatch(request.parent)
        if location is None:
            raise invalid(f"parent must be projects/*/locations/*, not {request.parent!r}")
        resources = request.vertex_rag_store.rag_resources
        if len(resources) != 1:
            raise invalid(f"exactly one rag_resource is needed, not {len(resources)}")
        corpus = CORPUS.fullmatch(resources[0].rag_corpus)
        if corpus is None:
            raise invalid(
                f"rag_corpus must be projects/*/locations/*/ragCorpora/*, not {resources[0].rag_corpus!r}"
            )
        if corpus["location"] != location["location"]:
            raise invalid(f"{resources[0].rag_corpus} is not in {request.parent}")
        if self._corpora.corpus(corpus["corpus"], corpus["parent"]) is None:
            raise not_found(f"RagCorpus {resources[0].rag_corpus} is not found")
        if not request.query.text.strip():
            raise invalid("query.text is empty")
        if request.query.rag_retrieval_config.top_k < 0:
            raise invalid("top_k is negative")
        protos.check_known(request)
        return self._corpora.indexes[corpus["corpus"]]


def _context(hit: Hit) -> Any:
    return protos.Context(
        source_uri=hit.chunk.uri,
        source_display_name=hit.chunk.title,
        text=hit.chunk.text,
        score=hit.distance,
        chunk=protos.RagChunk(text=hit.chunk.text),
    )
