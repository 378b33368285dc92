"""Long-running operations: a call starts one, it runs in the background, and `GetOperation` asks about it.

The operations are not stored. What they have done stays when the process ends.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc
from google.longrunning import operations_pb2
from google.rpc import status_pb2

from local.stand_ins.grpc_server import RpcError, not_found, unary
from local.stand_ins.rag.protos import as_any

SERVICE = "google.longrunning.Operations"
#: Does the work and returns the message of the response. Raises RpcError if it fails.
Work = Callable[[], Awaitable[Any]]


@dataclass
class _Operation:
    resource: str
    metadata: Any
    done: bool = False
    response: Any = None
    error: status_pb2.Status | None = None


class Operations:
    """Operations by name, `<resource>/operations/<id>`."""

    def __init__(self) -> None:
        self._known: dict[str, _Operation] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def handler(self) -> grpc.GenericRpcHandler:
        """The handler of `GetOperation`; the service's other methods answer UNIMPLEMENTED."""
        methods = {"GetOperation": unary(self._get, operations_pb2.GetOperationRequest)}
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    def begin(self, resource: str, metadata: Any, work: Work) -> operations_pb2.Operation:
        """Start an operation on a resource. GetOperation shows `metadata` as it is at that moment."""
        name = f"{resource}/operations/{secrets.randbelow(10**19)}"
        operation = self._known[name] = _Operation(resource, metadata)
        task = asyncio.get_running_loop().create_task(_run(operation, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return _message(name, operation)

    def running(self, resource: str) -> list[str]:
        """The ids of the running operations on a resource."""
        under_way = (
            name for name, each in self._known.items() if each.resource == resource and not each.done
        )
        return [name.rpartition("/")[2] for name in under_way]

    async def stop(self) -> None:
        """Cancel the running operations."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _get(self, request: Any) -> operations_pb2.Operation:
        operation = self._known.get(request.name)
        if operation is None:
            raise not_found(f"Operation {request.name} is not found")
        return _message(request.name, operation)


async def _run(operation: _Operation, work: Work) -> None:
    operation.metadata.generic_metadata.create_time.GetCurrentTime()
    try:
        operation.response = await work()
    except RpcError as error:
        operation.error = status_pb2.Status(code=error.code.value[0], message=str(error))
    operation.metadata.generic_metadata.update_time.GetCurrentTime()
    operation.done = True


def _message(name: str, operation: _Operation) -> operations_pb2.Operation:
    message = operations_pb2.Operation(name=name, done=operation.done, metadata=as_any(operation.metadata))
    if operation.error is not None:
        message.error.CopyFrom(operation.error)
    elif operation.done:
        message.response.CopyFrom(as_any(operation.response))
    return message
