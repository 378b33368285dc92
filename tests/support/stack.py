"""The whole stack for slow tests: the small cloud in a thread, the four functions as processes."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.cloud.firestore import Client

from local.places import HOST, PROJECT, Places, free_port
from local.runner.cloud import Cloud
from local.runner.functions import Functions
from local.runner.stack import running
from local.stand_ins.faults import Faults
from shared.chat.message import message_id
from shared.memory.records import COLLECTION
from shared.messages.names import document_id
from tests.support.clicking import buttons_of, parameters_of
from tests.support.loopback import http
from tests.support.waiting import until

HELPDESK, SALES, AIKOS_DM = "spaces/AAAAhelpdesk", "spaces/AAAAsalestyo", "spaces/dmAikoAAAAE"


def ask(
    url: str, text: str, *, space: str = HELPDESK, thread: str | None = None, locale: str = "en"
) -> dict[str, Any]:
    """Write to the bot on the page at `url`; returns the person's message."""
    body = {"space": space, "text": text, "thread": thread, "mention": True, "locale": locale}
    response = http.post(
        f"{url}/page/messages", json={**body, "person": "users/1001"}, headers={"Origin": url}
    )
    return dict(response.raise_for_status().json())


def said(url: str, question: dict[str, Any]) -> dict[str, Any]:
    """The bot's message for a question, as it is in the Chat at `url`; empty before there is one."""
    response = http.get(f"{url}/v1/{question['space']['name']}/messages/{message_id(question['name'])}")
    return {} if response.status_code == 404 else dict(response.raise_for_status().json())


def answer_of(url: str, question: dict[str, Any]) -> dict[str, Any]:
    """The bot's message once it is an answer with a source; fails when it does not come."""
    until(lambda: "[1]" in said(url, question).get("text", ""), f"an answer to {question['text']!r}")
    return said(url, question)


@dataclass
class Stack:
    """A running stack, and a person who uses it."""

    places: Places
    faults: Faults
    cloud: Cloud
    functions: Functions
    firestore: Client
    loop: asyncio.AbstractEventLoop

    def run(self, work: Any) -> Any:
        """Run a coroutine in the stack's event loop."""
        future: Future[Any] = asyncio.run_coroutine_threadsafe(work, self.loop)
        return future.result(60)

    def ask(
        self, text: str, *, space: str = HELPDESK, thread: str | None = None, locale: str = "en"
    ) -> dict[str, Any]:
        """Write to the bot on the page; returns the person's message."""
        return ask(self.places.url, text, space=space, thread=thread, locale=locale)

    def click(self, message: dict[str, Any], **wanted: str) -> None:
        """Click on the one button of a message whose parameters are, among others, `wanted`."""
        [button] = [each for each in buttons_of(message) if wanted.items() <= parameters_of(each).items()]
        body = {"message": message["name"], "function": button["onClick"]["action"]["function"]}
        http.post(
            f"{self.places.url}/page/clicks",
            json={**body, "parameters": parameters_of(button), "person": "users/1001"},
            headers={"Origin": self.places.url},
        ).raise_for_status()

    def final(self, question: dict[str, Any], answer_number: int = 0) -> dict[str, Any]:
        """The ending of a question once it is posted; fails when it does not come.

        `answer_number` is the number of the answer that is waited for (0 = first).
        """
        reference = self.firestore.collection(COLLECTION).document(document_id(question["name"]))

        def posted() -> dict[str, Any]:
            final = (reference.get().to_dict() or {}).get("final") or {}
            shown = said(self.places.url, question).get("text")
            return dict(final) if final.get("again") == answer_number and shown == final["text"] else {}

        return until(posted, f"an answer to {question['text']!r}")

    def settle(self) -> None:
        """Wait until nothing is under way: no event and no message, also none that comes again."""
        until(lambda: self.cloud.idle, "nothing is under way")

    def said(self, question: dict[str, Any]) -> dict[str, Any]:
        """The bot's message for a question, as it is in Chat."""
        return said(self.places.url, question)

    def of_the_bot(self, thread: str) -> list[dict[str, Any]]:
        """Everything the bot has said in a thread."""
        state = http.get(f"{self.places.url}/page/state").json()
        return [
            message
            for message in state["messages"]
            if message["thread"]["name"] == thread and message["sender"]["type"] == "BOT"
        ]


@contextmanager
def running_stack(state: Path | None, logs: Path, *, quotas: bool = True) -> Iterator[Stack]:
    """The stack, ready; `quotas` are Chat's."""
    places = Places(state=state, logs=logs, http=free_port())
    faults = Faults()
    loop = asyncio.new_event_loop()
    ready: Future[tuple[Cloud, Functions]] = Future()
    stop = asyncio.Event()

    async def live() -> None:
        try:
            async with running(places, faults=faults, quotas=quotas) as parts:
                ready.set_result(parts)
                await stop.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)

    thread = threading.Thread(target=loop.run_until_complete, args=(live(),), daemon=True)
    thread.start()
    try:
        cloud, functions = ready.result(90)
        yield Stack(places, faults, cloud, functions, _firestore(places), loop)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)


def _firestore(places: Places) -> Client:
    with pytest.MonkeyPatch.context() as environment:  # the client reads the variable when it is made
        environment.setenv("FIRESTORE_EMULATOR_HOST", f"{HOST}:{places.firestore}")
        return Client(project=PROJECT)
