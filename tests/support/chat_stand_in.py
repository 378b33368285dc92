"""Chat on loopback for a test, and the real client to call it with."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
from google.apps import chat_v1
from google.apps.chat_v1.services.chat_service.transports.rest import ChatServiceRestTransport
from google.auth.credentials import AnonymousCredentials
from starlette.applications import Starlette

from local.page.api import Page
from local.stand_ins.chat.service import Chat
from tests.support.http_serving import http_serving

Json = dict[str, Any]
IT_SUPPORT = "spaces/AAAAhelpdesk"
SALES = "spaces/AAAAsalestyo"
AIKO_DM = "spaces/dmAikoAAAAE"
#: A bot that nobody listens for: the port is never open.
NO_BOT = "http://127.0.0.1:9/"
AUDIENCE = "https://bot.example.com/"


@contextmanager
def chat_serving(chat: Chat, bot_url: str = NO_BOT, model_note: str = "") -> Iterator[str]:
    """Serve `chat` and what the page calls, with events going to `bot_url`; yields the base URL."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await chat.start(bot_url, AUDIENCE)
        yield
        await chat.stop()

    with http_serving([*chat.routes(), *Page(chat, model_note).routes()], lifespan=lifespan) as base:
        yield base


def chat_client(base: str) -> Any:
    """Google's own client, over REST."""
    transport = ChatServiceRestTransport(
        host=base.removeprefix("http://"), url_scheme="http", credentials=AnonymousCredentials()
    )
    return chat_v1.ChatServiceClient(transport=transport)


def create(http: httpx.Client, body: Json, space: str = IT_SUPPORT, **query: str) -> httpx.Response:
    """The answer to a create call."""
    return http.post(f"/v1/{space}/messages", params=query, json=body)


def created(http: httpx.Client, body: Json, space: str = IT_SUPPORT, **query: str) -> Json:
    """The message that a create call makes."""
    response = create(http, body, space, **query)
    assert response.status_code == 200, response.text
    message: Json = response.json()
    return message


def asked(http: httpx.Client, text: str, space: str = IT_SUPPORT, **fields: Any) -> Json:
    """A person's message; the bot is not mentioned unless `mention=True` is given."""
    body = {"space": space, "text": text, "person": "users/1001", "mention": False, **fields}
    response = http.post("/page/messages", json=body)
    assert response.status_code == 200, response.text
    message: Json = response.json()
    return message


def refused(response: httpx.Response, http_status: int, status: str) -> str:
    """The words of an error, which must be this one."""
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["status"]) == (http_status, http_status, status)
    message: str = error["message"]
    return message


def card(*sections: Json, **fields: Any) -> Json:
    """The body of a message with one card."""
    return {"cardsV2": [{"cardId": "c", "card": {"sections": list(sections), **fields}}]}


def section(widgets: int = 1, text: str = "t") -> Json:
    """A section of text paragraphs."""
    return {"widgets": [{"textParagraph": {"text": text}}] * widgets}
