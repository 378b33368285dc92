"""What a rewrite must keep of its question to be searched for."""

import re
import unicodedata

from shared.envelope import Language
from shared.language import of_text

#: A rewrite may be this much longer than its question (in characters), or it is no rewrite.
MOST_GROWTH = 300

_LATIN = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*")
_NOT_NAMED = {"OK", "FAQ", "PS", "FYI", "ASAP", "NG"}


def fault(rewrite: str, question: str, language: Language) -> str | None:
    """Why a rewrite cannot be used: "too_long", "language" or "lost_entity"; None when it can.

    `language` is the question's. Only a text in Japanese script counts as Japanese, so that a rewrite of
    product names alone is never in the wrong language.
    """
    if len(rewrite) > len(question) + MOST_GROWTH:
        return "too_long"
    if of_text(rewrite, language) != language:
        return "language"
    kept = unicodedata.normalize("NFKC", rewrite).casefold()
    if any(name.casefold() not in kept for name in _entities(question)):
        return "lost_entity"
    return None


def _entities(question: str) -> list[str]:
    """VPN, iPhone, StarKey, E203, HT-20417: what is written in capitals, inside a word or with digits.

    A word with one capital at its start may be the start of a sentence, or a weekday that becomes a date.
    """
    found = _LATIN.findall(unicodedata.normalize("NFKC", question))
    return [word for word in found if _is_entity(word) and word.upper() not in _NOT_NAMED]


def _is_entity(word: str) -> bool:
    has_capital = any(character.isupper() for character in word)
    has_digit = any(character.isdecimal() for character in word)
    return has_capital and (has_digit or any(character.isupper() for character in word[1:]))
