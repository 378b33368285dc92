"""The messages of `RetrieveContexts` that are served here, by their field numbers.

The SDK's own classes would do, but its package defines all of Vertex AI at import, which is a second of the
runner's start. `tests/test_rag.py` compares these with the SDK's.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "threadwise.local.rag"
_SCALARS = {"string": 9, "double": 1, "int32": 5}
#: Message → field → (number, scalar or message, in a list?). The SDK nests some of these in each other.
MESSAGES: dict[str, dict[str, tuple[int, str, bool]]] = {
    "RetrieveContextsRequest": {
        "parent": (1, "string", False),
        "vertex_rag_store": (2, "VertexRagStore", False),
        "query": (3, "RagQuery", False),
    },
    "VertexRagStore": {
        "vector_distance_threshold": (2, "double", False),
        "rag_resources": (3, "RagResource", True),
    },
    "RagResource": {"rag_corpus": (1, "string", False), "rag_file_ids": (2, "string", True)},
    "RagQuery": {"text": (1, "string", False), "rag_retrieval_config": (6, "RagRetrievalConfig", False)},
    "RagRetrievalConfig": {
        "top_k": (1, "int32", False),
        "filter": (3, "Filter", False),
        "ranking": (4, "Ranking", False),
    },
    "Filter": {
        "metadata_filter": (2, "string", False),
        "vector_distance_threshold": (3, "double", False),
        "vector_similarity_threshold": (4, "double", False),
    },
    "Ranking": {},
    "RetrieveContextsResponse": {"contexts": (1, "RagContexts", False)},
    "RagContexts": {"contexts": (1, "Context", True)},
    "Context": {
        "source_uri": (1, "string", False),
        "text": (2, "string", False),
        "source_display_name": (5, "string", False),
        "score": (6, "double", False),
        "chunk": (7, "RagChunk", False),
    },
    "RagChunk": {"text": (1, "string", False)},
}


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="threadwise_rag.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, in_a_list) in fields.items():
            scalar = _SCALARS.get(kind)
            message.field.add(
                name=field,
                number=number,
                type=scalar or 11,
                type_name=None if scalar else f".{_PACKAGE}.{kind}",
                label=3 if in_a_list else 1,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in MESSAGES
    }


_CLASSES = _classes()
RetrieveContextsRequest = _CLASSES["RetrieveContextsRequest"]
RetrieveContextsResponse = _CLASSES["RetrieveContextsResponse"]
RagContexts = _CLASSES["RagContexts"]
Context = _CLASSES["Context"]
RagChunk = _CLASSES["RagChunk"]
