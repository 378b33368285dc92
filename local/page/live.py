"""Live changes for the page: server-sent events, numbered by the writes of Chat's message store.

A browser that reconnects names the last number it saw and gets everything since, even after a restart.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from local.page.markdown import text_html
from local.stand_ins.chat.store import Changes, MessageStore, Stored

Json = dict[str, Any]
KEEP_ALIVE_SECONDS = 15.0


def for_page(message: Json) -> Json:
    """The message, with its text also as `html`."""
    return {**message, "html": text_html(message)}


async def stream(
    store: MessageStore,
    changes: Changes,
    after: int,
    around: Callable[[], Json],
    *,
    quiet_seconds: float = KEEP_ALIVE_SECONDS,
) -> AsyncIterator[str]:
    """Server-sent events for every write after number `after`, and whenever the result of `around` changes.

    A comment keeps the connection open when nothing has happened for `quiet_seconds`.
    """
    # An id alone is not an event. It only tells the browser where to continue after a reconnect.
    yield f"id: {after}\n\n"
    told = around()
    while not changes.ended:
        changed = changes.next()
        if told != (told := around()):
            yield f"event: message\ndata: {json.dumps({'kind': 'around', **told})}\n\n"
        for stored in store.changed_after(after):
            for kind in _kinds(stored, after):
                data = json.dumps({"kind": kind, "message": for_page(stored.message)})
                yield f"id: {stored.changed}\nevent: message\ndata: {data}\n\n"
            after = stored.changed
        try:
            await asyncio.wait_for(changed.wait(), quiet_seconds)
        except TimeoutError:
            yield ": still here\n\n"


def _kinds(stored: Stored, after: int) -> Iterator[str]:
    """What happened to a message since write number `after`."""
    if stored.deleted:
        yield "deleted"
        return
    if stored.created > after:
        yield "created"
    if stored.unanswered:
        yield "not_responding"
    elif stored.created <= after:
        yield "updated"
