"""Turns a person's words into a message, and delivers events to the bot.

Source: developers.google.com/workspace/chat, "Receive and respond to interaction events" (a window of 30 s,
and retries if the answer is not 2xx).
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from local.stand_ins.chat.directory import BOT, MENTION

Json = dict[str, Any]
#: Seconds that the bot has for an answer.
WINDOW_SECONDS = 30.0
#: Waits before the further tries, in seconds. Chat promises at most "a few times over a few minutes".
RETRY_SECONDS = (1.0, 4.0, 15.0)

logger = logging.getLogger(__name__)


def addressed_to_bot(text: str) -> Json:
    """The fields of a message in a named space: a mention of the bot, then `text`."""
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
    # Chat cuts out the mention and leaves the space after it. A bare mention has no argument.
    return {**fields, "argumentText": f" {argument}"} if argument else fields


def plain(text: str) -> Json:
    """The fields of a message without a mention."""
    return {"text": text, "formattedText": text, "argumentText": text} if text else {}


def attached(name: str, content_type: str) -> Json:
    """The fields of a message with one file. Nothing is uploaded."""
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
    """How events reach the bot: its URL, a new token for every try, and how long and how often Chat tries."""

    url: str
    token: Callable[[], str]
    window_seconds: float = WINDOW_SECONDS
    retry_seconds: tuple[float, ...] = RETRY_SECONDS


class Unanswered(Exception):
    """The bot did not accept the event."""


async def deliver(client: httpx.AsyncClient, delivery: Delivery, event: Json) -> bytes:
    """Send the event until the answer is 2xx, and return its body. Raises Unanswered after the last try."""
    for wait in (*delivery.retry_seconds, None):
        response = await _try(client, delivery, event)
        if response is not None:
            return response.content
        if wait is not None:
            await asyncio.sleep(wait)
    raise Unanswered(f"{delivery.url} did not accept the event")


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
