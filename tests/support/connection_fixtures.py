"""Fixtures (as a pytest plugin): the Chat stand-in, its page, and a bot connected in either way."""

from collections.abc import Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from local.page.api import Page
from local.stand_ins.chat.service import Chat
from local.stand_ins.faults import Faults
from local.stand_ins.tokens import Signer
from tests.support.chat_stand_in import AUDIENCE
from tests.support.connecting import CONNECTIONS, Heard, Setting
from tests.support.http_serving import http_serving


@pytest.fixture(scope="module")
def serving() -> Iterator[Setting]:
    heard, chat = Heard(), Chat(None, Faults(), Signer(), quotas=False, retry_seconds=())
    with http_serving([Route("/", heard.hear, methods=["POST"])]) as bot:

        @asynccontextmanager
        async def lifespan(_app: Any) -> Any:
            await chat.start(bot, AUDIENCE, heard.take)
            yield
            await chat.stop()

        with (
            http_serving([*chat.routes(), *Page(chat).routes()], lifespan=lifespan) as base,
            httpx.Client(base_url=base) as page,
        ):
            yield Setting(page, heard, base)


@pytest.fixture
def setting(serving: Setting) -> Setting:
    for space in serving.page.get("/page/state").json()["withoutBot"]:
        before = len(serving.heard.events)
        serving.post("members", space=space, bot="add")
        serving.event(before + 1)
    serving.heard.events.clear()
    serving.heard.tokens.clear()
    serving.heard.answer = {}
    serving.connect(**CONNECTIONS[0])
    return serving


@pytest.fixture(params=CONNECTIONS, ids=lambda each: " ".join(each.values()))
def connected(setting: Setting, request: pytest.FixtureRequest) -> Setting:
    setting.connect(**request.param)
    return setting
