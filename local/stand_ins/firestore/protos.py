"""The protobuf classes of Firestore's v1 API as the SDK ships them, without its wrappers."""

from typing import Any

from google.cloud.firestore_v1 import types

Message = Any  # the SDK ships no types for these

Document = types.Document.pb()
WriteResult = types.WriteResult.pb()

StructuredQuery = types.StructuredQuery.pb()
CompositeFilter = types.StructuredQuery.CompositeFilter.pb()
FieldFilter = types.StructuredQuery.FieldFilter.pb()

BatchGetDocumentsRequest = types.BatchGetDocumentsRequest.pb()
BatchGetDocumentsResponse = types.BatchGetDocumentsResponse.pb()
BeginTransactionRequest = types.BeginTransactionRequest.pb()
BeginTransactionResponse = types.BeginTransactionResponse.pb()
CommitRequest = types.CommitRequest.pb()
CommitResponse = types.CommitResponse.pb()
ListCollectionIdsRequest = types.ListCollectionIdsRequest.pb()
ListCollectionIdsResponse = types.ListCollectionIdsResponse.pb()
RollbackRequest = types.RollbackRequest.pb()
RunAggregationQueryRequest = types.RunAggregationQueryRequest.pb()
RunAggregationQueryResponse = types.RunAggregationQueryResponse.pb()
RunQueryRequest = types.RunQueryRequest.pb()
RunQueryResponse = types.RunQueryResponse.pb()
