"""Which questions are follow-ups: these are rewritten, or searched for with words of the conversation."""

from shared.language.courtesies import is_small_talk
from shared.messages.envelope import Envelope


def is_only_polite(envelope: Envelope) -> bool:
    """Whether a question is small talk after what was said before it, and not to be taken literally."""
    before = envelope.history[-1].text if envelope.history else ""
    return not envelope.literal and is_small_talk(envelope.question.text, before)


def stands_alone(envelope: Envelope) -> bool:
    """Whether nothing that was said before bears on what is searched for: there was nothing, the question is
    small talk, or it is to be taken literally."""
    return envelope.literal or not envelope.history or is_only_polite(envelope)
