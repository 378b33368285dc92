"""`sweep`: repairs endings that no message can repair any more. Cloud Scheduler calls it every few minutes.

There are two cases. First, Pub/Sub may deliver two copies of a message. One is acknowledged. The other writes
into the question's message and dies before it looks at the record. Then nothing is delivered again that would
post the right ending. Second, a question was registered but could not be published, so there is no message
that could be delivered again.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud.firestore import FieldFilter
from pydantic import ValidationError

from answer_fn.tell import Services, keep, tell
from shared.memory import records
from shared.messages.dead_letter import DeadLetter
from shared.messages.ending import Ending
from shared.messages.envelope import Envelope, Question
from shared.pipeline import pipeline
from shared.runtime import logs
from shared.runtime.cloudevent import message, trace_of
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError, in_one_line
from shared.runtime.receiver import Headers, Receiver
from shared.runtime.retry import FIRESTORE, call

#: The sweep compares endings with Chat that were recorded this long ago. Before that, the redelivery of their
#: own messages repairs them. The span is twice the time between two calls, so that one call may fail.
EARLIEST, LATEST = timedelta(minutes=2), timedelta(minutes=12)
#: After this time no message of a question can be delivered again: each step has made its five attempts.
NEVER_ENDS = timedelta(hours=1)
#: The most questions of each of the two kinds that one call can handle in its time, the oldest first.
MOST = 200
REASON = "never_ended"


class Sweeper(Receiver[None, Services]):
    """Receives the calls of the scheduler. Errors are logged, and the next call tries again."""

    def __init__(self, services: Callable[[], Services], seconds: float | None = None) -> None:
        super().__init__("sweep", seconds or pipeline().teller.seconds.step, services)

    def open(self, _headers: Headers, _body: bytes) -> None:
        """There is nothing to read."""

    def work(self, _message: None, _headers: Headers, deadline: Deadline) -> None:
        """Repair what is wrong. Raises Permanent or Transient."""
        now = datetime.now(UTC)
        ended = list(_ended(self.services, now, deadline))
        for asked, ending in ended:
            _put_back(asked, ending, self.services, deadline)
        never_ended = list(_never_ended(self.services, now, deadline))
        for question in never_ended:
            _end(question, self.services, deadline)
        logs.info("Swept", ended=len(ended), never_ended=len(never_ended))

    def question(self, _message: None, _body: bytes) -> str | None:
        """A call does not belong to a question."""
        return None

    def park(
        self, _message: None, _headers: Headers, _body: bytes, _trouble: StepError, _deadline: Deadline
    ) -> None:
        """There is nothing to store."""


def _ended(services: Services, now: datetime, deadline: Deadline) -> Iterator[tuple[Question, Ending]]:
    conditions = [("ended_at", ">=", now - LATEST), ("ended_at", "<=", now - EARLIEST)]
    for fields in _found(services, conditions, deadline):
        ending = records.standing_in(fields, now).ending
        if ending is not None and ending.asked is not None:
            yield ending.asked, ending


def _never_ended(services: Services, now: datetime, deadline: Deadline) -> Iterator[Question]:
    for fields in _found(services, [("opened_at", "<=", now - NEVER_ENDS)], deadline):
        try:
            yield Question.model_validate(fields.get("asked"))
        except ValidationError as error:
            logs.error("A question that never ended cannot be read", error=in_one_line(error))


def _found(
    services: Services, conditions: list[tuple[str, str, datetime]], deadline: Deadline
) -> list[dict[str, Any]]:
    query = services.firestore.collection(records.COLLECTION)
    for condition in conditions:
        query = query.where(filter=FieldFilter(*condition))
    snapshots = call(
        lambda timeout: list(query.limit(MOST).stream(retry=None, timeout=timeout)), FIRESTORE, deadline
    )
    if len(snapshots) == MOST:
        logs.warning("More questions than one call looks at", most=MOST)
    return [snapshot.to_dict() or {} for snapshot in snapshots]


def _put_back(question: Question, ending: Ending, services: Services, deadline: Deadline) -> None:
    with logs.context(question=question.id):
        try:
            services.display.put_back(question, records.Standing(ending), deadline)
        except Exception as error:
            logs.error("Not repaired; the next call tries again", error=in_one_line(error))


def _end(question: Question, services: Services, deadline: Deadline) -> None:
    """Store the question as a dead letter of the step that it never reached, and tell the asker."""
    envelope = Envelope(trace=trace_of({}), question=question)
    first = pipeline().first.name
    sent = message(envelope.to_bytes(), question_id=question.id, step=first, trace=envelope.trace)
    letter = DeadLetter(
        data=sent.data,
        from_chat=False,
        attributes=sent.attributes,
        message_id="",
        parked_by=None,
        reason=REASON,
        deliveries=None,
        question=question,
        envelope=envelope,
    )
    with logs.context(question=question.id):
        try:
            keep(letter, services, deadline)
            tell(letter, services, deadline)
        except Exception as error:
            logs.error("Not ended; the next call tries again", error=in_one_line(error))
