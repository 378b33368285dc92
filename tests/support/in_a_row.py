"""The four functions in this process, one after the other: each has ended before the next one begins."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import answer_fn.services
import reformulate_fn.services
import retrieve_fn.services
from answer_fn.answer import answer
from answer_fn.settings import Settings as AnswerSettings
from local.places import CORPUS, HOST
from local.stand_ins.faults import Call
from reformulate_fn.reformulate import reformulate, show_query
from reformulate_fn.settings import Settings as ReformulateSettings
from retrieve_fn.retrieve import retrieve, show_found
from retrieve_fn.settings import Settings as RetrieveSettings
from shared.messages.step import Step
from tests.conftest import Inbox, SmallCloud
from tests.support.factories import SPACE
from tests.support.ingest_side import Ingest

TOPICS = ("questions", "queries", "findings")
#: The calls in which the messages are taken from their topics here.
OUR_OWN = ("Pull", "Acknowledge")
#: Seconds that every call is held: two that are made at once can then be told from two in sequence.
HELD = 0.05


@dataclass
class Asked:
    """A question's way: its thread, the calls of all stand-ins, and when each function began."""

    thread: str
    calls: list[Call]
    began: dict[str, float] = field(default_factory=dict)

    def of(self, function: str) -> list[Call]:
        """The calls from a function's beginning to the next one's."""
        ends = [*list(self.began.values())[1:], float("inf")]
        until = dict(zip(self.began, ends, strict=True))[function]
        return [call for call in self.calls if self.began[function] <= call.came < until]


class InARow:
    """The functions on the small cloud; `inbox` makes the subscriptions that they are fed from."""

    def __init__(self, small_cloud: SmallCloud, inbox: Callable[[str], Inbox]) -> None:
        url = small_cloud.places.url
        self._cloud = small_cloud
        self._inboxes = [inbox(topic) for topic in TOPICS]
        self._ingest = Ingest(small_cloud)
        rewriting = reformulate_fn.services.open_services(ReformulateSettings(chat_endpoint=url))
        searching = retrieve_fn.services.open_services(
            RetrieveSettings(
                chat_endpoint=url,
                rag_corpus=CORPUS,
                rag_endpoint=f"http://{HOST}:{small_cloud.places.rag}",
                search_kind="lexical",
            )
        )
        answering = answer_fn.services.open_services(AnswerSettings(chat_endpoint=url))
        parked = "dead-letters"
        self._steps: list[Step[Any]] = [
            Step(
                "reformulate", "understanding", 40, lambda: rewriting, reformulate,
                parked, "queries", show_query,
            ),
            Step("retrieve", "searching", 45, lambda: searching, retrieve, parked, "findings", show_found),
            Step("answer", "writing", 120, lambda: answering, answer, parked),
        ]  # fmt: skip

    def ask(self, words: str, thread: str | None = None) -> Asked:
        """Ask in a thread, or in a new one, and take the question through all functions."""
        message = self._cloud.run(self._written(words, thread))
        user = {"name": "users/1001", "type": "HUMAN"}
        event = {
            "type": "MESSAGE",
            "user": user,
            "space": {"name": SPACE, "spaceType": "SPACE"},
            "message": {**message, "sender": user, "argumentText": words},
            "common": {"userLocale": "en"},
        }
        for service in ("firestore", "chat"):
            self._cloud.faults.switch_on(f"{service}-slow", seconds=HELD)
        with self._cloud.faults.recording() as calls:
            asked = Asked(message["thread"]["name"], calls)
            asked.began["ingest"] = time.monotonic()
            assert self._ingest.over_https(event) == ({}, 200)
            for step, inbox in zip(self._steps, self._inboxes, strict=True):
                [message] = inbox.messages()
                headers = {name.title(): value for name, value in message.attributes.items()}
                asked.began[step.name] = time.monotonic()
                assert step.receive(headers, message.data) == ("", 204)
        self._cloud.faults.switch_off()
        calls[:] = [call for call in calls if call.method not in OUR_OWN]
        assert all(call.answered for call in calls), "a function has left a call behind"
        return asked

    async def _written(self, words: str, thread: str | None) -> Any:
        return self._cloud.cloud.chat.post_as_person(SPACE, words, thread=thread, mention=False)
