"""The small cloud with the four functions on it, from start to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from local.faults import Faults
from local.functions import Functions
from local.places import Places

if TYPE_CHECKING:
    from local.cloud import Cloud

LOCAL_MODEL = (
    "Answers come from a small rule-based model on this machine: "
    "it quotes the knowledge base and writes nothing of its own."
)
REAL_MODEL = "Answers come from Gemini (GEMINI_API_KEY is set); everything else is on this machine."


@asynccontextmanager
async def running(
    places: Places, *, gemini_key: str | None = None, faults: Faults | None = None, quotas: bool = True
) -> AsyncIterator[tuple["Cloud", Functions]]:
    """Everything, ready for questions. Raises PortTaken or FunctionFailed."""
    faults = faults or Faults()
    functions = Functions(places, faults, gemini_key)
    functions.spawn()
    try:
        # The functions import their SDKs meanwhile, which takes longest; so these two come only now.
        from local.cloud import Cloud
        from local.connect import connect

        cloud = Cloud(places, faults, quotas=quotas)
        cloud.chat.model_note = REAL_MODEL if gemini_key else LOCAL_MODEL
        try:
            await cloud.start()
            await asyncio.to_thread(connect, places)
            await functions.ready()
            yield cloud, functions
        finally:
            functions.watch_no_more()
            await asyncio.to_thread(functions.stop)
            await cloud.stop()
    finally:
        functions.stop()
