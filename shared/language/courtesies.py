"""Recognises small talk: greetings, thanks and "yes". Also tells whether a text is a question.

Small talk is not searched for and not rewritten. The phrases are in the catalogues. The bot understands the
phrases of all languages, whatever language it uses for the person.
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

    `after` is the previous message. If it was a question, "yes" is an answer and not small talk.
    """
    said = plain(text)
    if _agreement().fullmatch(said):
        return not _ends_asking(after)
    return any(_courtesy(language).fullmatch(said) for language in languages())


def confirms(text: str) -> bool:
    """Whether a text is only a "yes", in any of the languages."""
    said = plain(text).strip(" .!。").lower()
    return any(said in each.yes for each in grammars())


def asks(text: str) -> bool:
    """Whether a text has a question: a question mark, or an ending that only questions have."""
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
    """Matches a text that begins with a courtesy and continues only with others.

    "Thanks, now on a Mac" does not match, because it asks something. A greeting matches even with a question
    mark: "Hello?".
    """
    said = grammar(language).courtesies
    whole = rf"(?:{any_of(said.lead)}\W*)*{any_of(said.opens)}(?:[^\w?？]|{any_of(said.goes_on)})*"
    return re.compile(rf"{whole}|{any_of(said.greetings)}\W*", re.IGNORECASE)
