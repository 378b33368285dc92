"""The gRPC service `google.firestore.v1.Firestore`. Calls it does not name answer UNIMPLEMENTED."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import grpc
from google.protobuf.empty_pb2 import Empty

from local.stand_ins.firestore import aggregations, field_paths, listing, names, queries, writes
from local.stand_ins.firestore import messages as pb
from local.stand_ins.firestore.errors import FirestoreError, invalid, unimplemented
from local.stand_ins.firestore.messages import Message
from local.stand_ins.firestore.store import Store
from local.stand_ins.firestore.transactions import Transactions
from local.stand_ins.grpc_server import Context, Streaming, Unary, streaming, unary

_SERVICE = "google.firestore.v1.Firestore"
#: One request, in bytes (Firestore's "Quotas and limits").
MAX_REQUEST_BYTES = 10 * 1024 * 1024


def _refusing(work: Callable[[Message], Message]) -> Unary:
    async def answer(request: Message, context: Context) -> Message:
        try:
            return work(request)
        except FirestoreError as error:
            await context.abort(error.code, str(error))

    return answer


def _refusing_stream(work: Callable[[Message], Awaitable[list[Message]]]) -> Streaming:
    async def answer(request: Message, context: Context) -> AsyncIterator[Message]:
        try:
            responses = await work(request)
        except FirestoreError as error:
            await context.abort(error.code, str(error))
        for response in responses:
            yield response

    return answer


def _check_size(request: Message) -> None:
    if request.ByteSize() > MAX_REQUEST_BYTES:
        raise invalid(f"Request payload size exceeds the limit: {MAX_REQUEST_BYTES} bytes.")


class Firestore:
    """Firestore on loopback, for `local.stand_ins.grpc_server.GrpcServer`.

    Documents live in the SQLite file `state` (None: in memory) and survive the death of the process: a commit
    is answered once it is stored. Expired documents stay, as they do for hours in production.
    """

    def __init__(self, state: Path | None) -> None:
        self._store = Store(state)
        self._transactions = Transactions()

    async def start(self) -> None:
        """Open the state. Raises OSError when the file is in use by another process or is no SQLite file."""
        self._store.open()

    async def stop(self) -> None:
        """Close the state."""
        self._store.close()

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The handlers of the service."""
        methods = {
            "Commit": unary(_refusing(self._commit), pb.CommitRequest),
            "BatchWrite": unary(_refusing(self._batch_write), pb.BatchWriteRequest),
            "BeginTransaction": unary(_refusing(self._begin), pb.BeginTransactionRequest),
            "Rollback": unary(_refusing(self._rollback), pb.RollbackRequest),
            "ListDocuments": unary(_refusing(self._list_documents), pb.ListDocumentsRequest),
            "ListCollectionIds": unary(_refusing(self._list_collections), pb.ListCollectionIdsRequest),
            "BatchGetDocuments": streaming(_refusing_stream(self._batch_get), pb.BatchGetDocumentsRequest),
            "RunQuery": streaming(_refusing_stream(self._run_query), pb.RunQueryRequest),
            "RunAggregationQuery": streaming(
                _refusing_stream(self._aggregate), pb.RunAggregationQueryRequest
            ),
        }
        return [grpc.method_handlers_generic_handler(_SERVICE, methods)]

    def _commit(self, request: Message) -> Message:
        names.check_database(request.database)
        _check_size(request)
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

    def _batch_write(self, request: Message) -> Message:
        names.check_database(request.database)
        _check_size(request)
        targets = [writes.target(write, request.database) for write in request.writes]
        if len(set(targets)) < len(targets):
            raise invalid("the same document cannot be written more than once in a single request")
        answer = pb.BatchWriteResponse()
        for write in request.writes:
            self._write_alone(write, request.database, answer)
        return answer

    def _write_alone(self, write: Message, database: str, answer: Message) -> None:
        changes: dict[str, Message | None] = {}
        result, status = answer.write_results.add(), answer.status.add()
        try:
            result.CopyFrom(self._apply(write, database, changes, self._store.next_commit()))
        except FirestoreError as error:
            status.code, status.message = error.code.value[0], str(error)
        self._store.put(changes)

    def _begin(self, request: Message) -> Message:
        names.check_database(request.database)
        if request.options.HasField("read_only"):
            raise unimplemented("read-only transactions")
        return pb.BeginTransactionResponse(transaction=self._transactions.begin())

    def _rollback(self, request: Message) -> Message:
        self._transactions.end(request.transaction)
        return Empty()

    def _list_documents(self, request: Message) -> Message:
        return listing.documents(self._store, request)

    def _list_collections(self, request: Message) -> Message:
        return listing.collection_ids(self._store, request)

    async def _batch_get(self, request: Message) -> list[Message]:
        names.check_database(request.database)
        if request.WhichOneof("consistency_selector") in ("new_transaction", "read_time"):
            raise unimplemented("BatchGetDocuments with new_transaction or read_time")
        paths = [field_paths.parse(path) for path in request.mask.field_paths]
        answers = []
        for name in dict.fromkeys(request.documents):
            names.check_document(name, request.database)
            document = self._store.get(name)
            if request.transaction:
                self._transactions.note_read(request.transaction, name, document)
            if document is not None and request.HasField("mask"):
                document = field_paths.project(document, paths)
            answer = pb.BatchGetDocumentsResponse(found=document, missing=name if document is None else None)
            answer.read_time.FromMicroseconds(self._store.now())
            answers.append(answer)
        return answers

    async def _query(self, request: Message, query: Message) -> tuple[list[Message], int]:
        names.check_parent(request.parent)
        if request.WhichOneof("consistency_selector"):
            raise unimplemented("queries in a transaction or with read_time")
        if request.HasField("explain_options"):
            raise unimplemented("explain_options")
        return await queries.run(self._store, request.parent, query)

    async def _run_query(self, request: Message) -> list[Message]:
        read_time = self._store.now()
        documents, skipped = await self._query(request, request.structured_query)
        answers = [pb.RunQueryResponse(document=document) for document in documents] or [
            pb.RunQueryResponse()
        ]
        answers[0].skipped_results = skipped
        for answer in answers:
            answer.read_time.FromMicroseconds(read_time)
        return answers

    async def _aggregate(self, request: Message) -> list[Message]:
        read_time = self._store.now()
        aggregation = request.structured_aggregation_query
        documents, _ = await self._query(request, aggregation.structured_query)
        answer = pb.RunAggregationQueryResponse(
            result=aggregations.result(aggregation.aggregations, documents)
        )
        answer.read_time.FromMicroseconds(read_time)
        return [answer]
