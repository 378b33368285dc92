"""The outcome of a question: its record in Firestore, and its messages in Chat."""

import asyncio
import json
import time
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from google.cloud.firestore import Client

from local.places import PROJECT, Places
from shared.chat.message import message_id, part_role
from shared.memory.firestore import Fields
from shared.memory.records import COLLECTION
from shared.messages.names import document_id, message_name, space_of

#: Seconds to wait for an answer: the whole pipeline with a slow model.
PATIENCE = 90.0
LOOK_EVERY = 0.05


class Outcomes:
    """Reads outcomes from outside. The Firestore client follows FIRESTORE_EMULATOR_HOST."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._firestore: Any = Client(project=PROJECT)

    async def final(self, question_id: str) -> Fields:
        """How the question ended, once its answer is posted; {} if that does not happen in time."""
        reference = self._firestore.collection(COLLECTION).document(document_id(question_id))
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            record = (await asyncio.to_thread(reference.get)).to_dict() or {}
            final = record.get("final")
            if final and await self._shows(question_id, str(final["text"])):
                return dict(final)
            await asyncio.sleep(LOOK_EVERY)
        return {}

    async def _shows(self, question_id: str, text: str) -> bool:
        """Whether an ending that is recorded is posted by now."""
        try:
            return text in await self.said(question_id)
        except HTTPError:
            return False

    async def said(self, question_id: str, parts: int = 1) -> str:
        """The text that the person sees in Chat. `parts` is the number of messages of the answer."""
        space = space_of(question_id)
        roles = ["", *(part_role(number) for number in range(1, parts))]
        names = [message_name(space, message_id(question_id, role=role)) for role in roles]
        bodies = [await asyncio.to_thread(_get, f"{self._places.url}/v1/{name}") for name in names]
        return "\n\n".join(json.loads(body)["text"] for body in bodies)


def _get(url: str) -> bytes:
    with urlopen(url, timeout=10) as response:
        body: bytes = response.read()
        return body
