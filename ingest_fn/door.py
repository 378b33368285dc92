"""From an HTTP request of Chat to an answer that Chat understands."""

import re
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ingest_fn.auth import Unauthorized, Verifier
from ingest_fn.events import storable
from ingest_fn.ingest import STEP, Services, ingest
from ingest_fn.settings import Settings
from shared import clients, logs
from shared.chat import open_chat
from shared.cloudevent import Message, is_whole
from shared.conversations import Conversations
from shared.dead_letters import unknown_id
from shared.deadline import Deadline
from shared.errors import Permanent, StepError, classify, in_one_line
from shared.failures import Failures
from shared.once import Once
from shared.outbox import Outbox

Answer = tuple[dict[str, object], int]
#: An empty object acknowledges an event without posting anything.
HEARD: Answer = ({}, 200)
#: Seconds for recording why an event was not taken: it is kept in the dead letters all the same.
WAIT_FOR_NOTING = 3.0
AGAIN: Answer = ({"error": "unavailable"}, 503)


def open_services(settings: Settings) -> Services:
    """The real services; called once, on the first request."""
    project = settings.google_cloud_project
    firestore = clients.firestore(project, settings.firestore_database)
    return Services(
        verifier=Verifier(
            audience=settings.chat_audience,
            email=settings.chat_email,
            certs_url=settings.chat_certs_url,
        ),
        outbox=Outbox(clients.publisher(), project),
        chat=open_chat(clients.chat(settings.chat_endpoint), firestore, settings.chat_writes_per_second),
        conversations=Conversations(firestore, settings.history_hours),
        failures=Failures(firestore),
        publishes_to=settings.publishes_to,
        background=ThreadPoolExecutor(max_workers=32),
    )


@dataclass
class Door:
    """Receives Chat's requests: 401 without proof, 503 when Chat should send it again, else 200 `{}`.

    An event that cannot be understood is kept in the dead letters.
    """

    services: Callable[[], Services]
    seconds: float
    dead_letter_topic: str

    def __post_init__(self) -> None:
        self._made = Once(self.services)

    @property
    def _services(self) -> Services:
        return self._made()

    def receive(self, headers: Mapping[str, str], body: bytes) -> Answer:
        """Handle one request; no exception leaves this method."""
        deadline = Deadline(self.seconds)
        lowered = {name.lower(): value for name, value in headers.items()}
        with logs.context(step=STEP):
            if not is_whole(headers, body):
                logs.warning("Cut off on the way; Chat will send it again")
                return AGAIN
            try:
                self._services.verifier.check(lowered.get("authorization"))
                ingest(body, _trace(lowered), self._services, deadline)
            except Unauthorized as refusal:
                logs.warning("Request refused", reason=str(refusal))
                return {"error": "unauthorized"}, 401
            except Exception as error:
                return self._fail(body, error, deadline)
        return HEARD

    def _fail(self, body: bytes, error: Exception, deadline: Deadline) -> Answer:
        trouble = classify(error, "")
        logs.error("Event not taken", reason=trouble.reason, error=str(trouble), frames=logs.frames(error))
        if not isinstance(trouble, Permanent):
            return AGAIN
        kept = storable(body)
        self._note_failure(unknown_id(kept), trouble, logs.frames(error), deadline)
        attributes = {
            "content-type": "application/json",
            "dead-letter-step": STEP,
            "dead-letter-reason": trouble.reason,
        }
        try:
            self._services.outbox.send(self.dead_letter_topic, Message(kept, attributes), deadline)
        except Exception as failure:
            logs.error("Could not be parked; Chat will send it again", error=in_one_line(failure))
            return AGAIN
        return HEARD

    def _note_failure(self, event_id: str, trouble: StepError, stack: list[str], deadline: Deadline) -> None:
        try:
            self._services.failures.note(event_id, STEP, trouble, stack, deadline.within(WAIT_FOR_NOTING))
        except Exception as failure:
            logs.error("The failure could not be recorded", error=in_one_line(failure))


def _trace(headers: Mapping[str, str]) -> str:
    """The W3C trace context that came with the request, or a new one."""
    given = headers.get("traceparent", "")
    if re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", given):
        return given
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
