"""The protobuf classes of Firestore's v1 API as the SDK ships them, without its wrappers."""

from typing import Any

from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.types import aggregation_result

Message = Any  # the SDK ships no types for these

Document = types.Document.pb()
Value = types.Value.pb()
WriteResult = types.WriteResult.pb()
AggregationResult = aggregation_result.AggregationResult.pb()

FieldTransform = types.DocumentTransform.FieldTransform.pb()
StructuredQuery = types.StructuredQuery.pb()
CompositeFilter = types.StructuredQuery.CompositeFilter.pb()
FieldFilter = types.StructuredQuery.FieldFilter.pb()
UnaryFilter = types.StructuredQuery.UnaryFilter.pb()

BatchGetDocumentsRequest = types.BatchGetDocumentsRequest.pb()
BatchGetDocumentsResponse = types.BatchGetDocumentsResponse.pb()
BatchWriteRequest = types.BatchWriteRequest.pb()
BatchWriteResponse = types.BatchWriteResponse.pb()
BeginTransactionRequest = types.BeginTransactionRequest.pb()
BeginTransactionResponse = types.BeginTransactionResponse.pb()
CommitRequest = types.CommitRequest.pb()
CommitResponse = types.CommitResponse.pb()
ListCollectionIdsRequest = types.ListCollectionIdsRequest.pb()
ListCollectionIdsResponse = types.ListCollectionIdsResponse.pb()
ListDocumentsRequest = types.ListDocumentsRequest.pb()
ListDocumentsResponse = types.ListDocumentsResponse.pb()
RollbackRequest = types.RollbackRequest.pb()
RunAggregationQueryRequest = types.RunAggregationQueryRequest.pb()
RunAggregationQueryResponse = types.RunAggregationQueryResponse.pb()
RunQueryRequest = types.RunQueryRequest.pb()
RunQueryResponse = types.RunQueryResponse.pb()
