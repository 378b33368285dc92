"""Tells which questions are follow-ups. These are rewritten, or get keywords of the conversation."""

import re
from functools import cache

from shared.language.catalogue import grammars
from shared.language.courtesies import is_small_talk
from shared.language.detect import plain
from shared.language.salience import is_name
from shared.language.words import any_of, words
from shared.messages.envelope import Envelope

_KANA_AT_THE_END = re.compile("[ぁ-ん]+$")


def is_only_polite(envelope: Envelope) -> bool:
    """Whether a question is small talk, given the message before it, and need not be taken literally."""
    before = envelope.history[-1].text if envelope.history else ""
    return not envelope.literal and is_small_talk(envelope.question.text, before)


def stands_alone(envelope: Envelope) -> bool:
    """Whether the search needs nothing from the history.

    This is so if there is no history, if the question is small talk, or if it must be taken literally.
    """
    return envelope.literal or not envelope.history or is_only_polite(envelope)


def is_unclear(text: str) -> bool:
    """Whether a message says too little to be understood alone: "can you help with this?", "And on a Mac?".

    A message that names what it is about is clear: "How do I connect this laptop to the VPN?"
    """
    generic = frozenset[str]().union(*(each.unclear.generic for each in grammars()))
    said = [word.surface for word in words(text) if word.names and _stem(word.surface) not in generic]
    if len(said) != 1:
        return not said
    return bool(
        _begins().match(plain(text)) or (_refers().search(plain(text)) and not is_name(said[0], text))
    )


def _stem(surface: str) -> str:
    """A word for comparing: in lower case, and without kana after its kanji (手伝い, 同じ)."""
    return _KANA_AT_THE_END.sub("", surface.lower())


@cache
def _begins() -> re.Pattern[str]:
    return re.compile(any_of(each for said in grammars() for each in said.unclear.begins), re.IGNORECASE)


@cache
def _refers() -> re.Pattern[str]:
    return re.compile(any_of(each for said in grammars() for each in said.unclear.refers), re.IGNORECASE)
