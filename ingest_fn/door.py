"""From a request of Chat, or of the topic of its events, to an answer that both understand."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ingest_fn.auth import Unauthorized, Verifier
from ingest_fn.forget import Forgetting
from ingest_fn.incoming import Incoming, received
from ingest_fn.ingest import Services, ingest
from ingest_fn.openings import Openings
from ingest_fn.pace import Pace
from ingest_fn.publish import STEP
from ingest_fn.settings import Settings
from shared.chat.events import question_of
from shared.chat.message import open_chat
from shared.chat.payloads import storable
from shared.chat.progress import Progress
from shared.memory.conversations import Conversations
from shared.memory.failures import Failures
from shared.memory.feedback import Feedback
from shared.memory.forgotten import Forgotten
from shared.memory.records import Records
from shared.messages.dead_letter import unknown_id
from shared.runtime import clients, logs
from shared.runtime.cloudevent import Message, is_whole
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, StepError, classify, in_one_line
from shared.runtime.once import Once
from shared.runtime.outbox import Outbox

Answer = tuple[dict[str, object], int]
#: An empty object acknowledges an event without posting anything; to Pub/Sub the status alone counts.
HEARD: Answer = ({}, 200)
AGAIN: Answer = ({"error": "unavailable"}, 503)
REFUSED: Answer = ({"error": "unauthorized"}, 401)
#: Seconds for recording why an event was not taken: it is kept in the dead letters all the same.
WAIT_FOR_NOTING = 3.0


def open_services(settings: Settings) -> Services:
    """The real services; called once, on the first request."""
    project = settings.google_cloud_project
    firestore = clients.firestore(project, settings.firestore_database)
    chat = open_chat(clients.chat(settings.chat_endpoint), firestore, settings.chat_writes_per_second)
    records = Records(firestore, settings.history_hours)
    conversations = Conversations(firestore, settings.history_hours)
    openings = Openings(conversations, chat)
    return Services(
        verifier=Verifier(
            settings.trusted,
            certs_url=settings.chat_certs_url,
            chat_certs_url=settings.chat_own_certs_url,
        ),
        outbox=Outbox(clients.publisher(), project),
        chat=chat,
        conversations=conversations,
        openings=openings,
        failures=Failures(firestore),
        pace=Pace(firestore, settings.questions_per_minute),
        forgetting=Forgetting(firestore, openings),
        forgotten=Forgotten(firestore),
        records=records,
        progress=Progress(chat, records),
        feedback=Feedback(firestore),
        settings=settings,
        background=ThreadPoolExecutor(max_workers=32),
    )


@dataclass
class Door:
    """Receives requests: 401 without proof, 503 when the event should be sent again, else 200 `{}`.

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
                caller = self._services.verifier.check(lowered.get("authorization"))
            except Unauthorized as refusal:
                logs.warning("Request refused", reason=str(refusal))
                return REFUSED
            except Exception as error:
                logs.error("Not verified", error=in_one_line(error), frames=logs.frames(error))
                return AGAIN
            incoming = received(caller, lowered, body)
            try:
                ingest(incoming, self._services, deadline)
            except Exception as error:
                return self._fail(incoming, error, deadline)
        return HEARD

    def _fail(self, incoming: Incoming, error: Exception, deadline: Deadline) -> Answer:
        trouble = classify(error, "")
        kept = storable(incoming.body)
        question = question_of(kept)
        event_id = question.id if question else unknown_id(kept)
        stack = logs.frames(error)
        logs.error(
            "Event not taken", question=event_id, reason=trouble.reason, error=str(trouble), frames=stack
        )
        self._note_failure(event_id, trouble, stack, deadline)
        if not isinstance(trouble, Permanent):
            return AGAIN
        attributes = {
            **incoming.attributes,
            "content-type": "application/json",
            "dead-letter-step": STEP,
            "dead-letter-reason": trouble.reason,
        }
        try:
            self._services.outbox.send(self.dead_letter_topic, Message(kept, attributes), deadline)
        except Exception as failure:
            logs.error("Could not be parked; it will be sent again", error=in_one_line(failure))
            return AGAIN
        return HEARD

    def _note_failure(self, event_id: str, trouble: StepError, stack: list[str], deadline: Deadline) -> None:
        try:
            self._services.failures.note(event_id, STEP, trouble, stack, deadline.within(WAIT_FOR_NOTING))
        except Exception as failure:
            logs.error("The failure could not be recorded", error=in_one_line(failure))
