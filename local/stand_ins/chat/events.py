"""How a person's words become a message, and how often Chat tries to tell the bot of it.

Source: developers.google.com/workspace/chat, "Receive and respond to interaction events" (30 s window,
retries of what was not answered with 2xx).
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from local.stand_ins.chat.directory import BOT, MENTION

Json = dict[str, Any]
#: How long the bot has to answer, in seconds.
WINDOW_SECONDS = 30.0
#: Waits before the tries after the first, in seconds. Chat promises "a few times over a few minutes" at most.
RETRY_SECONDS = (1.0, 4.0, 15.0)

logger = logging.getLogger(__name__)


def addressed_to_bot(text: str) -> Json:
    """The fields of a message in a named space that mentions the bot before `text`."""
    argument = text.removeprefix(MENTION).strip()
    annotation = {
        "type": "USER_MENTION",
        "startIndex": 0,
        "length": len(MENTION),
        "userMention": {"type": "MENTION", "user": BOT},
    }
    fields: Json = {
        "text": f"{MENTION} {argument}".strip(),
        "formattedText": f"<{BOT['name']}> {argument}".strip(),
        "annotations": [annotation],
    }
    # Chat cuts the mention out and leaves the space after it; a bare mention has no argument at all.
    return {**fields, "argumentText": f" {argument}"} if argument else fields


def plain(text: str) -> Json:
    """The fields of a message that mentions nobody."""
    return {"text": text, "formattedText": text, "argumentText": text} if text else {}


def attached(name: str, content_type: str) -> Json:
    """The fields of a message with one file; nothing is uploaded."""
    resource = {"resourceName": f"local-{name}"}
    return {
        "attachment": [
            {
                "contentName": name,
                "contentType": content_type,
                "source": "UPLOADED_CONTENT",
                "attachmentDataRef": resource,
            }
        ]
    }


@dataclass(frozen=True)
class Delivery:
    """How events reach the bot: its URL, a fresh token for every try, and the patience of Chat."""

    url: str
    token: Callable[[], str]
    window_seconds: float = WINDOW_SECONDS
    retry_seconds: tuple[float, ...] = RETRY_SECONDS


class Unanswered(Exception):
    """The bot did not take the event."""


async def deliver(client: httpx.AsyncClient, delivery: Delivery, event: Json) -> bytes:
    """Send the event until a 2xx, and return its body. Raises Unanswered after the last try."""
    for wait in (*delivery.retry_seconds, None):
        response = await _try(client, delivery, event)
        if response is not None:
            return response.content
        if wait is not None:
            await asyncio.sleep(wait)
    raise Unanswered(f"{delivery.url} did not take the event")


async def _try(client: httpx.AsyncClient, delivery: Delivery, event: Json) -> httpx.Response | None:
    headers = {"Authorization": f"Bearer {delivery.token()}", "User-Agent": "Google-Dynamite"}
    try:
        async with asyncio.timeout(delivery.window_seconds):
            response = await client.post(delivery.url, json=event, headers=headers)
    except (httpx.HTTPError, TimeoutError) as error:
        logger.warning("The bot did not answer: %r", error)
        return None
    if not response.is_success:
        logger.warning("The bot answered %s", response.status_code)
        return None
    return response
