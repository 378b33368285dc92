"""The gRPC service `google.firestore.v1.Firestore`.

It serves commits (all or nothing, with preconditions), batch gets, transactions, counts, the ids of
collections, and queries of one collection with comparisons, `in`, AND, orders and a limit. Everything else
answers UNIMPLEMENTED.
"""

from pathlib import Path

import grpc
from google.protobuf.empty_pb2 import Empty

from local.stand_ins.firestore import field_paths, names, queries, writes
from local.stand_ins.firestore import protos as pb
from local.stand_ins.firestore.protos import Message
from local.stand_ins.firestore.store import Store
from local.stand_ins.firestore.transactions import Transactions
from local.stand_ins.grpc_server import invalid, streaming, unary, unimplemented

_SERVICE = "google.firestore.v1.Firestore"
#: One request, in bytes (Firestore's "Quotas and limits").
MAX_REQUEST_BYTES = 10 * 1024 * 1024


class Firestore:
    """Firestore on loopback, for `local.stand_ins.grpc_server.GrpcServer`.

    Documents are in the SQLite file `state` (None: in memory). A commit is answered once it is stored, so
    documents survive if the process is killed. Expired documents stay, as they do for hours in production.
    """

    def __init__(self, state: Path | None) -> None:
        self._store = Store(state)
        self._transactions = Transactions()

    async def start(self) -> None:
        """Open the state. Raises OSError if another process uses the file, or if it is not an SQLite file."""
        self._store.open()

    async def stop(self) -> None:
        """Close the state."""
        self._store.close()

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The handlers of the service."""
        methods = {
            "Commit": unary(self._commit, pb.CommitRequest),
            "BeginTransaction": unary(self._begin, pb.BeginTransactionRequest),
            "Rollback": unary(self._rollback, pb.RollbackRequest),
            "ListCollectionIds": unary(self._list_collections, pb.ListCollectionIdsRequest),
            "BatchGetDocuments": streaming(self._batch_get, pb.BatchGetDocumentsRequest),
            "RunQuery": streaming(self._run_query, pb.RunQueryRequest),
            "RunAggregationQuery": streaming(self._count, pb.RunAggregationQueryRequest),
        }
        return [grpc.method_handlers_generic_handler(_SERVICE, methods)]

    async def _commit(self, request: Message) -> Message:
        names.check_database(request.database)
        if request.ByteSize() > MAX_REQUEST_BYTES:
            raise invalid(f"Request payload size exceeds the limit: {MAX_REQUEST_BYTES} bytes.")
        if request.transaction:
            self._transactions.check(request.transaction, self._store.get)
        now = self._store.next_commit()
        answer = pb.CommitResponse()
        answer.commit_time.FromMicroseconds(now)
        changes: dict[str, Message | None] = {}
        for write in request.writes:
            answer.write_results.append(self._apply(write, request.database, changes, now))
        self._store.put(changes)
        if request.transaction:
            self._transactions.end(request.transaction)
        return answer

    def _apply(self, write: Message, database: str, changes: dict[str, Message | None], now: int) -> Message:
        name = writes.target(write, database)
        before = changes[name] if name in changes else self._store.get(name)
        changes[name], result = writes.apply(write, name, before, now)
        return result

    async def _begin(self, request: Message) -> Message:
        names.check_database(request.database)
        return pb.BeginTransactionResponse(transaction=self._begun(request.options))

    def _begun(self, options: Message) -> bytes:
        if options.HasField("read_only"):
            raise unimplemented("read-only transactions")
        return self._transactions.begin()

    async def _rollback(self, request: Message) -> Message:
        self._transactions.end(request.transaction)
        return Empty()

    async def _list_collections(self, request: Message) -> Message:
        names.check_parent(request.parent)
        if request.WhichOneof("consistency_selector") or request.page_size or request.page_token:
            raise unimplemented("ListCollectionIds in pages or with read_time")
        return pb.ListCollectionIdsResponse(collection_ids=self._store.collection_ids(request.parent))

    async def _batch_get(self, request: Message) -> list[Message]:
        names.check_database(request.database)
        if request.HasField("read_time"):
            raise unimplemented("BatchGetDocuments with read_time")
        begins = request.HasField("new_transaction")
        transaction = self._begun(request.new_transaction) if begins else request.transaction
        paths = [field_paths.parse(path) for path in request.mask.field_paths]
        # The first answer names the transaction that the call has begun, also when nothing is asked for.
        answers = [pb.BatchGetDocumentsResponse(transaction=transaction)] if begins else []
        for name in dict.fromkeys(request.documents):
            names.check_document(name, request.database)
            document = self._store.get(name)
            if transaction:
                self._transactions.record_read(transaction, name, document)
            if document is not None and request.HasField("mask"):
                document = field_paths.project(document, paths)
            answer = pb.BatchGetDocumentsResponse(found=document, missing=name if document is None else None)
            answer.read_time.FromMicroseconds(self._store.now())
            answers.append(answer)
        return answers

    async def _query(self, request: Message, query: Message) -> list[Message]:
        names.check_parent(request.parent)
        if request.WhichOneof("consistency_selector"):
            raise unimplemented("queries in a transaction or with read_time")
        if request.HasField("explain_options"):
            raise unimplemented("explain_options")
        return await queries.run(self._store, request.parent, query)

    async def _run_query(self, request: Message) -> list[Message]:
        read_time = self._store.now()
        documents = await self._query(request, request.structured_query)
        answers = [pb.RunQueryResponse(document=document) for document in documents] or [
            pb.RunQueryResponse()
        ]
        for answer in answers:
            answer.read_time.FromMicroseconds(read_time)
        return answers

    async def _count(self, request: Message) -> list[Message]:
        read_time = self._store.now()
        asked = request.structured_aggregation_query
        if len(asked.aggregations) != 1 or not asked.aggregations[0].HasField("count"):
            raise unimplemented("aggregations other than one count")
        (aggregation,) = asked.aggregations
        count = len(await self._query(request, asked.structured_query))
        if aggregation.count.HasField("up_to"):
            count = min(count, aggregation.count.up_to.value)
        answer = pb.RunAggregationQueryResponse()
        answer.result.aggregate_fields[aggregation.alias or "field_1"].integer_value = count
        answer.read_time.FromMicroseconds(read_time)
        return [answer]
