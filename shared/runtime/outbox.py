"""Publishes messages to the next step and to the dead letters."""

from collections.abc import Mapping
from typing import Any

from shared.runtime import logs
from shared.runtime.cloudevent import Message
from shared.runtime.deadline import Deadline
from shared.runtime.errors import StepError
from shared.runtime.retry import PUBSUB, call


class Outbox:
    """Publishes to the topics of one project and waits for the confirmation."""

    def __init__(self, client: Any, project: str) -> None:
        self._client = client
        self._project = project

    def send(self, topic: str, message: Message, deadline: Deadline) -> str:
        """Publish a message, and return its id when Pub/Sub has stored it. Raises Transient or Permanent."""
        path = f"projects/{self._project}/topics/{topic}"

        def publish(timeout: float) -> str:
            future = self._client.publish(
                path, message.data, retry=None, timeout=timeout, **message.attributes
            )
            # The client's own timeout starts only when its thread sends the message. This one limits the
            # whole wait.
            message_id: str = future.result(timeout=timeout)
            return message_id

        return call(publish, PUBSUB, deadline)

    def park(
        self,
        topic: str,
        data: bytes,
        attributes: Mapping[str, str],
        step: str,
        trouble: StepError,
        deadline: Deadline,
    ) -> None:
        """Publish a message that `step` cannot process to the dead letters. Raises Transient or Permanent."""
        marks = {"dead-letter-step": step, "dead-letter-reason": trouble.reason}
        self.send(topic, Message(data, {**attributes, **marks}), deadline)
        logs.error("Parked in the dead letters", reason=trouble.reason, error=str(trouble))
