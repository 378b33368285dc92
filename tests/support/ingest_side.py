"""The real `ingest_fn` in this process, on the small cloud, called over either transport."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ingest_fn.door import Door
from ingest_fn.ingest import Services
from ingest_fn.services import open_services
from ingest_fn.settings import Settings
from local.places import ADD_ON_IDENTITY, CHAT_IDENTITY, PUSH_IDENTITY
from shared.chat.events import understand
from shared.chat.message import message_id
from tests.conftest import SmallCloud
from tests.support.golden_events import as_bytes
from tests.support.loopback import http

AUDIENCE = "https://example.com/ingest"
GROUP, BENS_DM = "spaces/AAAAgroupab", "spaces/dmBenAAAAAE"
TRANSPORTS = ("https", "pubsub")
#: When the golden events happened.
GOLDEN_TIME = "2026-11-30T01:02:03.456789Z"
_numbers = iter(range(1_000_000))


@dataclass
class Ingest:
    """A door, and who calls it. `settings` are those that differ from the usual ones."""

    small_cloud: SmallCloud
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        url = self.small_cloud.places.url
        given = {
            "chat_endpoint": url,
            "chat_audience": AUDIENCE,
            "chat_email": f"{CHAT_IDENTITY},{ADD_ON_IDENTITY}",
            "push_email": PUSH_IDENTITY,
            "chat_certs_url": f"{url}/certs",
            "questions_per_minute": 100_000,
        }
        self.services: Services = open_services(Settings(**{**given, **self.settings}))
        self.door = Door(lambda: self.services, 25, "dead-letters")

    def over_https(self, event: Any, email: str = CHAT_IDENTITY) -> tuple[dict[str, object], int]:
        """Call it as Chat does."""
        token = self.small_cloud.cloud.signer.mint(audience=AUDIENCE, email=email)
        body = event if isinstance(event, bytes) else as_bytes(event)
        return self.door.receive({"Authorization": f"Bearer {token}"}, body)

    def over_pubsub(self, event: Any, **attributes: str) -> tuple[dict[str, object], int]:
        """Call it as a push subscription does that wraps its messages."""
        data = event if isinstance(event, bytes) else as_bytes(event)
        message: dict[str, Any] = {"data": base64.b64encode(data).decode(), "messageId": "1"}
        if attributes:
            message["attributes"] = {name.replace("_", "-"): value for name, value in attributes.items()}
        push = {"message": message, "subscription": "projects/p/subscriptions/chat-events-push"}
        return self.pushed({}, as_bytes(push))

    def pushed(self, headers: dict[str, str], body: bytes) -> tuple[dict[str, object], int]:
        """Call it with the identity of the push subscription."""
        token = self.small_cloud.cloud.signer.mint(audience=AUDIENCE, email=PUSH_IDENTITY)
        return self.door.receive({**headers, "Authorization": f"Bearer {token}"}, body)

    def by(self, transport: str) -> Callable[[Any], tuple[dict[str, object], int]]:
        """The one or the other."""
        return self.over_https if transport == "https" else self.over_pubsub

    def said(self, event: Any) -> dict[str, Any] | None:
        """The message that an event that is no question has led to, as it is in Chat."""
        place = understand(as_bytes(event)).place  # type: ignore[union-attr]
        return self.read(f"{place.space}/messages/{message_id(place.key)}")

    def read(self, name: str) -> dict[str, Any] | None:
        """A message of the bot's, or None."""
        response = http.get(f"{self.small_cloud.places.url}/v1/{name}")
        return dict(response.json()) if response.status_code == 200 else None

    def of_the_bot(self) -> list[dict[str, Any]]:
        """All that the bot has said, anywhere, in order."""
        state = http.get(f"{self.small_cloud.places.url}/page/state").json()
        return [message for message in state["messages"] if message["sender"]["type"] == "BOT"]


def anew(event: dict[str, Any], space: str = GROUP) -> dict[str, Any]:
    """A golden event in spaces that the stand-in knows, and with ids that no other test has."""
    number = next(_numbers)
    text = json.dumps(event)
    for place, there in (("AAAA", space), ("GGGG", space), ("UUUU", space), ("DM1", BENS_DM)):
        text = text.replace(f"spaces/{place}/", f"{there}/").replace(f'"spaces/{place}"', f'"{there}"')
    for short in ("TTTT", "R1", "D1", "G1", "U1", "J1", "B1", "E1", "F1", "F2", "W1", "W2", "M2"):
        text = text.replace(f"/{short}", f"/{short}n{number}").replace(f".{short}", f".{short}n{number}")
    for short in ("C1", "C2", "C3", "C4", "C5", "C6"):
        text = text.replace(f"/{short}", f"/{short}n{number}").replace(f".{short}", f".{short}n{number}")
    # It happens now: whatever other tests have told the bot to forget was before. By this time, to the
    # microsecond, events without a message are told apart.
    return dict(json.loads(text.replace(GOLDEN_TIME, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}")))
