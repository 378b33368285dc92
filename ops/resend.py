"""The message that a replay sends: the one that died, or the one of an earlier step."""

from dataclasses import dataclass

from ops.case import Case
from ops.errors import Exit, OpsError
from shared.messages.envelope import Envelope
from shared.pipeline import pipeline, step
from shared.runtime.cloudevent import REPLAY_COUNT, REPLAY_NAME, Message, message
from shared.runtime.errors import StepError


@dataclass(frozen=True)
class Resend:
    """A message and the topic, without the deployment's prefix, that it goes to."""

    topic: str
    message: Message


def resend(case: Case, count: int, operation: str, restart: str | None = None) -> Resend:
    """What replaying a case for the `count`-th time sends. Raises OpsError where that cannot be.

    With `restart` the question begins again at that step, not later than where it died: what later steps
    had found is left out, and the message is the one that the step before would have sent.
    """
    if not isinstance(case.data, bytes):
        raise OpsError("its message is too large for Firestore, or discarded", Exit.INVALID)
    died = pipeline().takers.get(case.sender or "")
    if died is None:
        raise OpsError("no step of ours has sent it, so there is none to send it to", Exit.INVALID)
    marks = {REPLAY_COUNT: str(count), REPLAY_NAME: operation}
    if restart is None or restart == died.name:
        return Resend(died.takes, Message(case.data, {**case.attributes, **marks}))
    if died not in pipeline().since(restart):
        raise OpsError(f"it died in {died.name}, before it came to {restart}", Exit.INVALID)
    envelope = _shortened(case.data, restart)
    again = message(
        envelope.to_bytes(),
        question_id=envelope.key,
        step=pipeline().sender(restart),
        trace=envelope.trace,
        inherited=marks,
    )
    return Resend(step(restart).takes, again)


def _shortened(data: bytes, restart: str) -> Envelope:
    try:
        envelope = Envelope.from_bytes(data)
    except StepError as error:
        raise OpsError(f"its envelope cannot be opened ({error}); try `dead edit`", Exit.INVALID) from None
    added = [field for later in pipeline().since(restart) for field in later.adds]
    return envelope.model_copy(update=dict.fromkeys(added))
