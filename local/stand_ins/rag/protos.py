"""The messages of RAG Engine that are served here, by their field numbers.

The SDK has classes for them, but its package defines all of Vertex AI at import, which would delay the start
by a second. `tests/local/stand_ins/test_rag_data.py` compares these with the SDK's.
"""

from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2
from google.protobuf.unknown_fields import UnknownFieldSet
from google.rpc import status_pb2

from local.stand_ins.grpc_server import unimplemented

PACKAGE = "threadwise.local.rag"
#: The package of the messages in the SDK.
_SDK_PACKAGE = "google.cloud.aiplatform.v1"
_TYPES = {"double": 1, "int64": 3, "int32": 5, "string": 9, "enum": 14}
_FOREIGN = {"Timestamp": ".google.protobuf.Timestamp", "Status": ".google.rpc.Status"}
#: The states of corpora and files that occur here.
ENUMS = {"CorpusState": {"UNKNOWN": 0, "ACTIVE": 2}, "FileState": {"STATE_UNSPECIFIED": 0, "ACTIVE": 1}}
#: Message → field → (number, scalar, enum or message, in a list?). The SDK nests some of these in each other.
MESSAGES: dict[str, dict[str, tuple[int, str, bool]]] = {
    "RetrieveContextsRequest": {
        "parent": (1, "string", False),
        "vertex_rag_store": (2, "VertexRagStore", False),
        "query": (3, "RagQuery", False),
    },
    "VertexRagStore": {
        "rag_resources": (3, "RagResource", True),
    },
    "RagResource": {"rag_corpus": (1, "string", False)},
    "RagQuery": {"text": (1, "string", False), "rag_retrieval_config": (6, "RagRetrievalConfig", False)},
    "RagRetrievalConfig": {
        "top_k": (1, "int32", False),
        "filter": (3, "Filter", False),
    },
    "Filter": {
        "vector_distance_threshold": (3, "double", False),
    },
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
    "CreateRagCorpusRequest": {"parent": (1, "string", False), "rag_corpus": (2, "RagCorpus", False)},
    "GetRagCorpusRequest": {"name": (1, "string", False)},
    "ListRagCorporaRequest": {
        "parent": (1, "string", False),
        "page_size": (2, "int32", False),
        "page_token": (3, "string", False),
    },
    "ListRagCorporaResponse": {
        "rag_corpora": (1, "RagCorpus", True),
        "next_page_token": (2, "string", False),
    },
    "RagCorpus": {
        "name": (1, "string", False),
        "display_name": (2, "string", False),
        "description": (3, "string", False),
        "create_time": (4, "Timestamp", False),
        "update_time": (5, "Timestamp", False),
        "corpus_status": (8, "CorpusStatus", False),
        "vector_db_config": (9, "RagVectorDbConfig", False),
    },
    "CorpusStatus": {"state": (1, "CorpusState", False)},
    "RagVectorDbConfig": {
        "rag_managed_db": (1, "RagManagedDb", False),
        "rag_embedding_model_config": (7, "RagEmbeddingModelConfig", False),
    },
    "RagManagedDb": {},
    "RagEmbeddingModelConfig": {"vertex_prediction_endpoint": (1, "VertexPredictionEndpoint", False)},
    "VertexPredictionEndpoint": {"endpoint": (1, "string", False)},
    "ImportRagFilesRequest": {
        "parent": (1, "string", False),
        "import_rag_files_config": (2, "ImportRagFilesConfig", False),
    },
    "ImportRagFilesConfig": {"gcs_source": (2, "GcsSource", False)},
    "GcsSource": {"uris": (1, "string", True)},
    "ImportRagFilesResponse": {
        "imported_rag_files_count": (1, "int64", False),
        "failed_rag_files_count": (2, "int64", False),
        "skipped_rag_files_count": (3, "int64", False),
    },
    "ListRagFilesRequest": {
        "parent": (1, "string", False),
        "page_size": (2, "int32", False),
        "page_token": (3, "string", False),
    },
    "ListRagFilesResponse": {"rag_files": (1, "RagFile", True), "next_page_token": (2, "string", False)},
    "RagFile": {
        "name": (1, "string", False),
        "display_name": (2, "string", False),
        "create_time": (6, "Timestamp", False),
        "update_time": (7, "Timestamp", False),
        "gcs_source": (8, "GcsSource", False),
        "file_status": (13, "FileStatus", False),
    },
    "FileStatus": {"state": (1, "FileState", False)},
    "DeleteRagFileRequest": {"name": (1, "string", False)},
    "GenericOperationMetadata": {
        "partial_failures": (1, "Status", True),
        "create_time": (2, "Timestamp", False),
        "update_time": (3, "Timestamp", False),
    },
    "CreateRagCorpusOperationMetadata": {"generic_metadata": (1, "GenericOperationMetadata", False)},
    "ImportRagFilesOperationMetadata": {
        "generic_metadata": (1, "GenericOperationMetadata", False),
        "import_rag_files_config": (3, "ImportRagFilesConfig", False),
        "progress_percentage": (4, "int32", False),
    },
    "DeleteOperationMetadata": {"generic_metadata": (1, "GenericOperationMetadata", False)},
}


def _classes() -> dict[str, Any]:
    dependencies = [timestamp_pb2.DESCRIPTOR.name, status_pb2.DESCRIPTOR.name]
    file = descriptor_pb2.FileDescriptorProto(
        name="threadwise_rag.proto", package=PACKAGE, syntax="proto2", dependency=dependencies
    )
    for name, values in ENUMS.items():
        enum = file.enum_type.add(name=name)
        for value, number in values.items():
            enum.value.add(name=f"{name}_{value}", number=number)
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, in_a_list) in fields.items():
            scalar = _TYPES.get("enum" if kind in ENUMS else kind)
            named = None if kind in _TYPES else _FOREIGN.get(kind, f".{PACKAGE}.{kind}")
            message.field.add(
                name=field,
                number=number,
                type=scalar or 11,
                type_name=named,
                label=3 if in_a_list else 1,
            )
    pool = descriptor_pool.Default()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
        for name in MESSAGES
    }


CLASSES = _classes()
RetrieveContextsRequest = CLASSES["RetrieveContextsRequest"]
RetrieveContextsResponse = CLASSES["RetrieveContextsResponse"]
RagContexts = CLASSES["RagContexts"]
Context = CLASSES["Context"]
RagChunk = CLASSES["RagChunk"]
RagCorpus = CLASSES["RagCorpus"]
RagFile = CLASSES["RagFile"]
GcsSource = CLASSES["GcsSource"]
ACTIVE_CORPUS, ACTIVE_FILE = ENUMS["CorpusState"]["ACTIVE"], ENUMS["FileState"]["ACTIVE"]


def as_any(message: Any) -> any_pb2.Any:
    """A message inside an operation, with its name in the SDK."""
    full_name = message.DESCRIPTOR.full_name.replace(PACKAGE, _SDK_PACKAGE)
    return any_pb2.Any(type_url=f"type.googleapis.com/{full_name}", value=message.SerializeToString())


def check_known(message: Any) -> None:
    """Raises UNIMPLEMENTED when a message has fields, at any depth, that are not known here."""
    if len(UnknownFieldSet(message)):
        raise unimplemented(f"all fields of {message.DESCRIPTOR.name}")
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if _is_list(value) else [value]:
                check_known(each)


def _is_list(value: Any) -> bool:
    return not hasattr(value, "DESCRIPTOR")
