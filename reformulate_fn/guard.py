"""Checks a rewrite: its length, its language, and whether it keeps the names and codes of the question."""

import re
import unicodedata

from shared.language.catalogue import grammars
from shared.language.detect import of_text
from shared.language.words import LETTER
from shared.messages.envelope import Language

#: A rewrite may be at most this many characters longer than its question.
MOST_GROWTH = 300

_SPELT = re.compile(rf"(?:{LETTER}|[0-9])+(?:[-_.](?:{LETTER}|[0-9])+)*")
_KATAKANA = re.compile(r"[ァ-ヺー]{3,}")
#: A rewrite need not keep shorter numbers: it may turn "in 3 days" into a date, or a digit into a word.
FEWEST_DIGITS = 3


def fault(rewrite: str, question: str, language: Language) -> str | None:
    """Why a rewrite cannot be used: "too_long", "language" or "lost_entity"; None if it can be used.

    `language` is the question's. A rewrite whose language cannot be detected, for example product names
    alone, passes.
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
    """The names and codes in a question: VPN, iPhone, StarKey, E203, win11, 8443, スターキー.

    These are words with a capital after the first letter, words with digits after letters, long numbers, and
    words in katakana. A word with only a first capital does not count: it may start a sentence, or be a
    weekday that becomes a date. Only the first two katakana count, because スマホ may become スマートフォン.
    """
    text = unicodedata.normalize("NFKC", question)
    no_names = {word for each in grammars() for word in each.abbreviations}
    spelt = [word for word in _SPELT.findall(text) if _is_entity(word) and word.upper() not in no_names]
    return spelt + [word[:2] for word in _KATAKANA.findall(text)]


def _is_entity(word: str) -> bool:
    digits = sum(character.isdecimal() for character in word)
    if digits and not word[0].isalpha():  # 2nd and 10am are not codes, 5GHz is
        return digits >= FEWEST_DIGITS or any(character.isupper() for character in word)
    return digits > 0 or any(character.isupper() for character in word[1:])
