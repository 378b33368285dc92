"""Pushes each message as an HTTP POST. The status of the answer decides whether it is acknowledged."""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from functools import partial

import httpx

from local.stand_ins.pubsub.backlog import Backlog
from local.stand_ins.pubsub.broker import Broker
from local.stand_ins.pubsub.push_request import push_request
from local.stand_ins.pubsub.store import Delivery

#: Concurrent pushes of one subscription. Real Pub/Sub starts low and goes up to thousands.
MAX_OUTSTANDING = 64
#: Statuses that acknowledge (cloud.google.com/pubsub/docs/push). The fifth, 102, cannot end a response.
ACKNOWLEDGING = frozenset({200, 201, 202, 204})
_TOKEN_SECONDS = 1800.0
_LOG = logging.getLogger(__name__)

Mint = Callable[..., str]


class Tokens:
    """Identity tokens for pushes. Each is valid for an hour and replaced after half an hour."""

    def __init__(self, mint: Mint) -> None:
        self._mint = mint
        self._tokens: dict[tuple[str, str], tuple[float, str]] = {}

    def get(self, audience: str, email: str) -> str:
        """A token of the service account `email` for `audience`."""
        minted, token = self._tokens.get((audience, email), (float("-inf"), ""))
        if time.monotonic() - minted > _TOKEN_SECONDS:
            token = self._mint(audience=audience, email=email)
            self._tokens[audience, email] = (time.monotonic(), token)
        return token


class Pusher:
    """Pushes the messages of all push subscriptions as soon as they are due."""

    def __init__(self, broker: Broker, mint: Mint, on_answer: Callable[[str], None]) -> None:
        self._broker = broker
        self._on_answer = on_answer
        self._tokens = Tokens(mint)
        self._loops: dict[str, asyncio.Task[None]] = {}
        # One connection per push. A server may close an idle connection during the next push, which would
        # then count as refused; and on loopback, connecting is cheaper than searching a pool.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._client = httpx.AsyncClient(trust_env=False, timeout=None, limits=limits)  # noqa: S113

    def begin(self, backlog: Backlog) -> None:
        """Push this backlog from now on, if its subscription has a push endpoint."""
        if backlog.subscription.push_config.push_endpoint:
            loop = asyncio.create_task(self._run(backlog))
            loop.add_done_callback(_report)
            self._loops[backlog.subscription.name] = loop

    async def end(self, subscription: str) -> None:
        """Stop pushing. Running requests are cut off, and their messages wait again."""
        if loop := self._loops.pop(subscription, None):
            loop.cancel()
            await asyncio.wait([loop])

    async def close(self) -> None:
        """Stop all pushing."""
        for subscription in tuple(self._loops):
            await self.end(subscription)
        await self._client.aclose()

    async def _run(self, backlog: Backlog) -> None:
        slots = asyncio.Semaphore(MAX_OUTSTANDING)
        async with asyncio.TaskGroup() as pushes:
            while True:
                await slots.acquire()
                (delivery,) = await backlog.take_when_due(1, math.inf)
                push = pushes.create_task(self._deliver(backlog, delivery))
                push.add_done_callback(partial(_over, slots, backlog, delivery))

    async def _deliver(self, backlog: Backlog, delivery: Delivery) -> None:
        outcome = await self._post(backlog, delivery)
        if outcome in ACKNOWLEDGING:
            self._broker.acknowledge([delivery])
            return
        self._broker.fail(delivery)
        _LOG.info("%s: message %d was not accepted: %s", delivery.subscription, delivery.id, outcome)

    async def _post(self, backlog: Backlog, delivery: Delivery) -> int | str:
        """The status of the answer, or the error."""
        request = push_request(backlog.subscription, delivery, self._tokens.get)
        try:
            async with asyncio.timeout(backlog.ack_deadline):
                response = await self._client.send(request)
        except TimeoutError:
            return "no answer within the ack deadline"
        except httpx.HTTPError as error:
            return f"{type(error).__name__}: {error}"
        self._on_answer(backlog.subscription.push_config.push_endpoint)
        return response.status_code


def _over(slots: asyncio.Semaphore, backlog: Backlog, delivery: Delivery, push: asyncio.Task[None]) -> None:
    slots.release()
    if push.cancelled():
        backlog.wait_again(delivery)


def _report(loop: asyncio.Task[None]) -> None:
    if not loop.cancelled() and (error := loop.exception()):
        _LOG.critical("Pushing a subscription has ended", exc_info=error)
