"""The message that sends a question on its way."""

import time
from typing import Protocol

from ingest_fn.incoming import Incoming
from ingest_fn.settings import Settings
from shared.messages.envelope import Envelope
from shared.runtime import logs
from shared.runtime.cloudevent import message, passed_on
from shared.runtime.deadline import Deadline
from shared.runtime.outbox import Outbox

STEP = "ingest"
#: What a button of a classic app calls: it may have any name.
CLASSIC = "threadwise"


class Services(Protocol):
    """What publishing asks of the world."""

    @property
    def outbox(self) -> Outbox: ...
    @property
    def settings(self) -> Settings: ...


def publish(
    envelope: Envelope, incoming: Incoming, started: float, services: Services, deadline: Deadline
) -> None:
    """Send a question to the next step; on return it is safe there. Raises Transient or Permanent.

    `started` is when work on it began (`time.monotonic()`).
    """
    follow_up = message(
        envelope.to_bytes(),
        question_id=envelope.key,
        step=STEP,
        trace=envelope.trace,
        inherited=passed_on(incoming.attributes, STEP, time.monotonic() - started),
    )
    services.outbox.send(services.settings.publishes_to, follow_up, deadline)
    logs.info(
        "Question published",
        content={"asked": envelope.question.text},
        turns_of_history=len(envelope.history),
        answer_number=envelope.answer_number,
    )


def click_target(incoming: Incoming, settings: Settings) -> str | None:
    """What a click on a button calls; None where no click would arrive.

    An add-on's button is a call of this URL; a classic app's may have any name.
    """
    return (settings.url or CLASSIC) if incoming.clicks else None
