"""Receives the requests of Chat and of the topic of Chat's events, and replies in a form that both accept."""

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
    """Receives requests. Replies 401 without a valid token, 503 to get the event again, else 200 `{}`.

    An event that cannot be understood goes to the dead letters. Nothing is kept of a request whose token is
    invalid or cannot be checked now.
    """

    #: To Chat, an empty object means: received, post nothing. Pub/Sub looks only at the status.
    done: HttpReply = ({}, 200)
    redeliver: HttpReply = ({"error": "unavailable"}, 503)
    refused: HttpReply = ({"error": "unauthorized"}, 401)

    def __init__(self, services: Callable[[], Services], seconds: float, dead_letter_topic: str) -> None:
        super().__init__(STEP, seconds, services)
        self._dead_letter_topic = dead_letter_topic

    def open(self, headers: Headers, body: bytes) -> Incoming:
        """Read the event in a request. Raises Refusal, or Transient if the caller cannot be verified now."""
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
        """The question in the event, or an id in its place."""
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
        """Publish the event without its tokens to the dead letters."""
        if message is None:  # the caller was not verified, so it may be anything
            raise trouble
        attributes = {**message.attributes, "content-type": "application/json"}
        self.services.outbox.park(
            self._dead_letter_topic, storable(message.body), attributes, STEP, trouble, deadline
        )
