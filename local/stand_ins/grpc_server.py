"""gRPC servers on loopback ports: the faults in front of every call, and refusals as gRPC statuses."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

from local.stand_ins.faults import Faults, Refused

Context = Any  # grpc ships no types
Unary = Callable[[Any, Context], Awaitable[Any]]
Streaming = Callable[[Any, Context], AsyncIterator[Any]]
#: Names on a page of a list, unless the request says how many.
DEFAULT_PAGE = 100


class RpcError(Exception):
    """The call must be answered with this gRPC status and message."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> RpcError:
    """INVALID_ARGUMENT: the request breaks a rule of the API."""
    return RpcError(grpc.StatusCode.INVALID_ARGUMENT, message)


def not_found(message: str) -> RpcError:
    """NOT_FOUND: there is no such resource."""
    return RpcError(grpc.StatusCode.NOT_FOUND, message)


def already_exists(message: str) -> RpcError:
    """ALREADY_EXISTS: there is a resource of that name."""
    return RpcError(grpc.StatusCode.ALREADY_EXISTS, message)


def failed_precondition(message: str) -> RpcError:
    """FAILED_PRECONDITION: the resource is not in the state that the call needs."""
    return RpcError(grpc.StatusCode.FAILED_PRECONDITION, message)


def unimplemented(what: str) -> RpcError:
    """UNIMPLEMENTED: the real service can do `what`, the stand-in cannot."""
    return RpcError(grpc.StatusCode.UNIMPLEMENTED, f"The local stand-in does not implement {what}")


def unary(work: Callable[[Any], Awaitable[Any]], request_class: Any) -> grpc.RpcMethodHandler:
    """A handler for a call with one answer. `work` gets the protobuf request, gives the protobuf answer and
    may raise RpcError."""

    async def answer(request: Any, context: Context) -> Any:
        try:
            return await work(request)
        except RpcError as error:
            await context.abort(error.code, str(error))

    return grpc.unary_unary_rpc_method_handler(
        answer,
        request_deserializer=request_class.FromString,
        response_serializer=lambda message: message.SerializeToString(),
    )


def streaming(work: Callable[[Any], Awaitable[list[Any]]], request_class: Any) -> grpc.RpcMethodHandler:
    """A handler for a call whose answer is a stream of messages, which `work` returns as a list."""

    async def answer(request: Any, context: Context) -> AsyncIterator[Any]:
        try:
            messages = await work(request)
        except RpcError as error:
            await context.abort(error.code, str(error))
        for message in messages:
            yield message

    return grpc.unary_stream_rpc_method_handler(
        answer,
        request_deserializer=request_class.FromString,
        response_serializer=lambda message: message.SerializeToString(),
    )


def page(names: Iterable[str], request: Any) -> tuple[list[str], str]:
    """The page of `names` that a List request asks for, and the token of the next page ("" on the last)."""
    rest = sorted(name for name in names if name > request.page_token)
    size = request.page_size if request.page_size > 0 else DEFAULT_PAGE
    shown = rest[:size]
    return shown, shown[-1] if len(rest) > size else ""


class GrpcServer:
    """Serves the handlers of one stand-in on 127.0.0.1."""

    def __init__(self, service: str, handlers: list[grpc.GenericRpcHandler], faults: Faults) -> None:
        self._service = service
        self._handlers = handlers
        self._faults = faults
        self._server: grpc.aio.Server | None = None
        self.port = 0

    async def start(self, port: int = 0) -> int:
        """Listen on `port` (0: any free one) and return it. Raises OSError if it is taken."""
        # No SO_REUSEPORT: otherwise two servers on one port would silently share the calls.
        options = [("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", 32 * 1024 * 1024)]
        server = grpc.aio.server(interceptors=[_Gate(self._service, self._faults)], options=options)
        server.add_generic_rpc_handlers(tuple(self._handlers))
        try:
            self.port = server.add_insecure_port(f"127.0.0.1:{port}")
        except RuntimeError as error:
            raise OSError(f"Port {port} is taken") from error
        await server.start()
        self._server = server
        return self.port

    async def stop(self) -> None:
        """Close the port and cut off running calls."""
        if self._server is not None:
            await self._server.stop(None)
            self._server = None


class _Gate(grpc.aio.ServerInterceptor):
    def __init__(self, service: str, faults: Faults) -> None:
        self._service = service
        self._faults = faults

    @asynccontextmanager
    async def _passed(self, method: str, context: Context) -> AsyncIterator[None]:
        try:
            async with self._faults.call(self._service, method):
                yield
        except Refused as refused:
            await context.abort(grpc.StatusCode[refused.grpc_status], str(refused))

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler:
        handler = await continuation(handler_call_details)
        if handler is None:
            return handler
        codec = (handler.request_deserializer, handler.response_serializer)
        method = handler_call_details.method.rsplit("/", 1)[-1]
        if handler.unary_unary is not None:
            answer: Unary = handler.unary_unary

            async def gated(request: Any, context: Context) -> Any:
                async with self._passed(method, context):
                    return await answer(request, context)

            return grpc.unary_unary_rpc_method_handler(gated, *codec)
        answers: Streaming = handler.unary_stream

        async def gated_stream(request: Any, context: Context) -> AsyncIterator[Any]:
            async with self._passed(method, context):
                async for message in answers(request, context):
                    yield message

        return grpc.unary_stream_rpc_method_handler(gated_stream, *codec)
