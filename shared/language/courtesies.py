"""Small talk, and other short words of a conversation: greetings, thanks, "yes", and whether a text asks.

There is nothing to search for in a greeting, and nothing to rewrite. The phrases are in the catalogues; each
is understood whatever language the person is spoken to in.
"""

import re
from functools import cache

from shared.language.catalogue import grammar, grammars, languages
from shared.language.detect import plain
from shared.language.words import any_of
from shared.messages.envelope import Language

_QUESTION_MARK = re.compile("[?？]")


def is_small_talk(text: str, after: str = "") -> bool:
    """Whether a text only greets, thanks or agrees.

    `after` is what was said just before: "yes" is an answer when that was a question.
    """
    said = plain(text)
    if _agreement().fullmatch(said):
        return not _ends_asking(after)
    return any(_courtesy(language).fullmatch(said) for language in languages())


def confirms(text: str) -> bool:
    """Whether a text is a "yes" and nothing else, in any of the languages."""
    said = plain(text).strip(" .!。").lower()
    return any(said in each.yes for each in grammars())


def asks(text: str) -> bool:
    """Whether there is a question in a text: a question mark, or the ending of a question."""
    return _QUESTION_MARK.search(text) is not None or _ends_asking(text)


def _ends_asking(text: str) -> bool:
    return _question_end().search(text) is not None


@cache
def _question_end() -> re.Pattern[str]:
    endings = any_of(ending for each in grammars() for ending in each.question_endings)
    return re.compile(rf"(?:[?？]|{endings}[。.]?)\W*$")


@cache
def _agreement() -> re.Pattern[str]:
    agreement = any_of(phrase for each in grammars() for phrase in each.courtesies.agreement)
    return re.compile(rf"{agreement}\W*", re.IGNORECASE)


@cache
def _courtesy(language: Language) -> re.Pattern[str]:
    """A phrase that opens a courtesy and nothing but others that go on from it; "Thanks, now on a Mac" asks.

    A greeting is one with a question mark, too: "Hello?".
    """
    said = grammar(language).courtesies
    whole = rf"(?:{any_of(said.lead)}\W*)*{any_of(said.opens)}(?:[^\w?？]|{any_of(said.goes_on)})*"
    return re.compile(rf"{whole}|{any_of(said.greetings)}\W*", re.IGNORECASE)
