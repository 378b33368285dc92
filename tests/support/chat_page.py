"""The Chat stand-in with the chat page, a bot that the test plays over REST, and hands on the page."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Locator, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.page.api import Page as PageApi
from local.page.routes import page_routes
from local.stand_ins.chat.service import Chat
from local.stand_ins.faults import Faults
from local.stand_ins.tokens import Signer
from tests.support.http_serving import http_serving

Json = dict[str, Any]
SPACE = "spaces/AAAAhelpdesk"
MODEL_NOTE = "rule-based model on this machine"
PATIENCE_SECONDS = 10.0
SIGNER = Signer()


class Bot:
    """What the bot hears, and its hands in Chat."""

    def __init__(self) -> None:
        self._heard: list[Json] = []
        self.status = 200
        #: What it answers events with.
        self.reply: Json = {}
        self.chat = httpx.Client(trust_env=False)

    async def listen(self, request: Request) -> Response:
        self._heard.append(await request.json())
        return JSONResponse(self.reply, self.status)

    def heard(self, count: int) -> list[Json]:
        """The first `count` events: Chat sends them after the page has shown the message."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self._heard) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(self._heard) == count
        return self._heard

    def answer(self, thread: str, message: Json) -> str:
        query = {"messageReplyOption": "REPLY_MESSAGE_OR_FAIL"}
        body = {"markupSyntax": "MARKUP_SYNTAX_MARKDOWN", **message, "thread": {"name": thread}}
        answer = self.chat.post(f"/v1/{SPACE}/messages", params=query, json=body).raise_for_status()
        return str(answer.json()["name"])

    def change(self, name: str, mask: str, message: Json) -> None:
        self.chat.patch(f"/v1/{name}", params={"updateMask": mask}, json=message).raise_for_status()


@contextmanager
def chat_serving(bot: Bot, state: Path | None = None, port: int = 0) -> Iterator[str]:
    chat = Chat(state, Faults(), SIGNER, quotas=False, retry_seconds=())
    routes = [*page_routes(), *PageApi(chat, "model_local").routes(), *chat.routes()]
    with http_serving([Route("/", bot.listen, methods=["POST"])]) as bot_url:

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            await chat.start(bot_url, "test")
            yield
            await chat.stop()

        with http_serving(routes, lifespan=lifespan, port=port) as url:
            bot.chat.base_url = url
            yield url


def in_space(page: Page) -> None:
    space(page, SPACE).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("IT support")


def space(page: Page, name: str) -> Locator:
    return page.locator(f'[data-testid=space][data-name="{name}"]')


def ask(page: Page, text: str) -> str:
    """Send a message in the space, and give the name of its thread."""
    before = page.locator(".topic").count()
    page.get_by_test_id("composer").fill(text)
    page.get_by_test_id("composer").press("Enter")
    expect(page.locator(".topic")).to_have_count(before + 1)
    return page.locator(".topic").last.get_attribute("data-thread") or ""


def messages(page: Page, sender: str) -> Locator:
    return page.locator(f"[data-testid=message][data-sender={sender}]")


def card(*widgets: Json, **section: Any) -> Json:
    sections = [{"widgets": list(widgets), **section}]
    return {"cardsV2": [{"cardId": "status", "card": {"header": {"title": "Working"}, "sections": sections}}]}


def step(icon: str, text: str) -> Json:
    return {"decoratedText": {"startIcon": {"materialIcon": {"name": icon}, "altText": icon}, "text": text}}
