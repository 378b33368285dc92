"""Publishes a question to the next step."""

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
#: What a button of a classic app calls. Chat accepts any name here.
CLASSIC = "threadwise"


class Services(Protocol):
    """What publishing needs from outside."""

    @property
    def outbox(self) -> Outbox: ...
    @property
    def settings(self) -> Settings: ...


def publish(
    envelope: Envelope, incoming: Incoming, started: float, services: Services, deadline: Deadline
) -> None:
    """Publish a question. When this returns, Pub/Sub has stored it. Raises Transient or Permanent.

    `started` is when the work on it began (`time.monotonic()`).
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
    """What a click on a button calls; None if clicks do not arrive.

    A button of an add-on calls this function's URL. A button of a classic app may name anything.
    """
    return (settings.url or CLASSIC) if incoming.clicks else None
