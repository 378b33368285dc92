"""The message that a replay sends: the failed message, or one for an earlier step."""

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
    """The message for replay number `count` of a case. Raises OpsError if the case cannot be replayed.

    With `restart`, the question starts again at that step, which must not come after the failed one. The
    message is then the one that the previous step would have sent, without the results of later steps.
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
