"""Tells which questions are follow-ups. These are rewritten, or get keywords of the conversation."""

from shared.language.courtesies import is_small_talk
from shared.messages.envelope import Envelope


def is_only_polite(envelope: Envelope) -> bool:
    """Whether a question is small talk, given the message before it, and need not be taken literally."""
    before = envelope.history[-1].text if envelope.history else ""
    return not envelope.literal and is_small_talk(envelope.question.text, before)


def stands_alone(envelope: Envelope) -> bool:
    """Whether the search needs nothing from the history.

    This is so if there is no history, if the question is small talk, or if it must be taken literally.
    """
    return envelope.literal or not envelope.history or is_only_polite(envelope)
