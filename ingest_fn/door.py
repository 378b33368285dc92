"""From a request of Chat, or of the topic of its events, to an answer that both understand."""

from collections.abc import Callable

from ingest_fn.auth import Unauthorized
from ingest_fn.incoming import Incoming, received
from ingest_fn.ingest import Services, ingest
from ingest_fn.publish import STEP
from shared.chat.events import question_of
from shared.chat.payloads import storable
from shared.messages.dead_letter import unknown_id
from shared.messages.envelope import Question
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError
from shared.runtime.receiver import Headers, HttpReply, Receiver, Refusal


class Door(Receiver[Incoming, Services]):
    """Receives requests: 401 without proof, 503 when the event should be sent again, else 200 `{}`.

    An event that cannot be understood is kept in the dead letters. Of a request without proof, or whose proof
    cannot be checked now, nothing is kept.
    """

    #: An empty object acknowledges an event without posting anything; to Pub/Sub the status alone counts.
    done: HttpReply = ({}, 200)
    redeliver: HttpReply = ({"error": "unavailable"}, 503)
    refused: HttpReply = ({"error": "unauthorized"}, 401)

    def __init__(self, services: Callable[[], Services], seconds: float, dead_letter_topic: str) -> None:
        super().__init__(STEP, seconds, services)
        self._dead_letter_topic = dead_letter_topic

    def open(self, headers: Headers, body: bytes) -> Incoming:
        """The event in a request. Raises Refusal, or Transient when the caller cannot be verified now."""
        lowered = {name.lower(): value for name, value in headers.items()}
        try:
            caller = self.services.verifier.check(lowered.get("authorization"))
        except Unauthorized as refusal:
            raise Refusal(str(refusal), self.refused) from None
        return received(caller, lowered, body)

    def work(self, message: Incoming, _headers: Headers, deadline: Deadline) -> None:
        """Do what the event asks for."""
        ingest(message, self.services, deadline)

    def question(self, message: Incoming | None, _body: bytes) -> Question | str | None:
        """The question in the event, or what stands for it."""
        if message is None:
            return None
        kept = storable(message.body)
        return question_of(kept) or unknown_id(kept)

    def park(
        self,
        message: Incoming | None,
        _headers: Headers,
        _body: bytes,
        trouble: StepError,
        deadline: Deadline,
    ) -> None:
        """Publish the event, without the tokens in it, to the dead letters."""
        if message is None:  # nobody has proved that it is an event
            raise trouble
        attributes = {**message.attributes, "content-type": "application/json"}
        self.services.outbox.park(
            self._dead_letter_topic, storable(message.body), attributes, STEP, trouble, deadline
        )
