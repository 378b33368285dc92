"""How a call ends that cannot be done."""

from collections.abc import Awaitable, Callable
from typing import Any

import grpc


class RpcError(Exception):
    """Answered to the caller with this gRPC status."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> RpcError:
    """The request breaks a rule of the API."""
    return RpcError(grpc.StatusCode.INVALID_ARGUMENT, message)


def not_found(name: str) -> RpcError:
    """The topic or subscription does not exist."""
    return RpcError(grpc.StatusCode.NOT_FOUND, f"Resource not found: {name}")


def unimplemented(what: str) -> RpcError:
    """Real Pub/Sub has it, this stand-in does not."""
    return RpcError(grpc.StatusCode.UNIMPLEMENTED, f"The local Pub/Sub does not implement {what}")


def answering(work: Callable[[Any], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
    """`work` as a handler that answers RpcError with its status."""

    async def handler(request: Any, context: Any) -> Any:
        try:
            return await work(request)
        except RpcError as error:
            return await context.abort(error.code, str(error))

    return handler
