"""Reads a dead letter that may be an event of Chat."""

from collections.abc import Mapping

from shared.chat.events import question_of
from shared.chat.payloads import payload, storable
from shared.messages.dead_letter import DeadLetter
from shared.messages.envelope import Language, Question
from shared.runtime.errors import StepError


def letter_from_push(
    headers: Mapping[str, str], body: bytes, spoken: tuple[Language, ...] | None = None
) -> DeadLetter:
    """Read an unwrapped push of the dead-letter topic. Never fails.

    `spoken` are the languages that the bot speaks (None: all). They are needed because an event does not name
    the language of the reply.
    """

    def read_event(event: bytes, must_be_one: bool) -> tuple[bytes, Question | None] | None:
        if not must_be_one and not _is_event(event):
            return None
        kept = storable(event)
        return kept, question_of(kept, spoken)

    return DeadLetter.read(headers, body, read_event)


def _is_event(body: bytes) -> bool:
    try:
        payload(body)
    except StepError:
        return False
    return True
