"""The Chat stand-in with its page, and a bot that hears it however it is connected."""

import json
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from shared.chat.events import understand
from tests.support.waiting import until

AIKO, BEN = "users/1001", "users/1002"
GROUP = "spaces/AAAAgroupab"
CONNECTIONS = [
    {"shape": "classic", "transport": "https", "audience": "url"},
    {"shape": "classic", "transport": "https", "audience": "number"},
    {"shape": "classic", "transport": "pubsub", "audience": "url"},
    {"shape": "add-on", "transport": "https", "audience": "url"},
    {"shape": "add-on", "transport": "pubsub", "audience": "url"},
]
Json = dict[str, Any]


@dataclass
class Heard:
    """What came to the bot: over HTTPS with its token, or on the topic."""

    events: list[bytes] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    answer: Json = field(default_factory=dict)

    async def hear(self, request: Request) -> Response:
        self.events.append(await request.body())
        self.tokens.append(request.headers["authorization"].removeprefix("Bearer "))
        return JSONResponse(self.answer)

    async def take(self, event: bytes) -> None:
        self.events.append(event)


@dataclass
class Setting:
    """Chat, its page, and the bot that it is connected to."""

    page: httpx.Client
    heard: Heard
    base: str

    def post(self, path: str, **body: Any) -> Json:
        response = self.page.post(f"/page/{path}", json={"person": AIKO, **body})
        assert response.status_code == 200, response.text
        return dict(response.json())

    def refused(self, path: str, **body: Any) -> str:
        response = self.page.post(f"/page/{path}", json={"person": AIKO, **body})
        assert response.status_code in {400, 403, 404}, response.text
        return str(response.json()["error"]["message"])

    def connect(self, **connection: str) -> None:
        response = self.page.post("/page/connection", json=connection)
        assert response.json() == connection
        assert self.page.get("/page/connection").json() == connection

    def event(self, count: int = 1) -> Json:
        """The latest event, once there are so many."""
        until(lambda: len(self.heard.events) >= count)
        return dict(json.loads(self.heard.events[-1]))

    def meaning(self, count: int = 1) -> Any:
        """What the bot would understand of it."""
        self.event(count)
        return understand(self.heard.events[-1])
