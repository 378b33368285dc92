"""What a rewrite must keep of its question to be searched for."""

import re
import unicodedata

from shared.language.catalogue import grammars
from shared.language.detect import of_text
from shared.language.words import LETTER
from shared.messages.envelope import Language

#: A rewrite may be this much longer than its question (in characters), or it is no rewrite.
MOST_GROWTH = 300

_SPELT = re.compile(rf"(?:{LETTER}|[0-9])+(?:[-_.](?:{LETTER}|[0-9])+)*")
_KATAKANA = re.compile(r"[ァ-ヺー]{3,}")
#: Of a number that is shorter, a relative date may have been made ("in 3 days"), or a word.
FEWEST_DIGITS = 3


def fault(rewrite: str, question: str, language: Language) -> str | None:
    """Why a rewrite cannot be used: "too_long", "language" or "lost_entity"; None when it can.

    `language` is the question's. What holds too little of any language to tell, such as product names alone,
    is never in the wrong one.
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
    """VPN, iPhone, StarKey, E203, win11, 8443, スターキー: what is written in capitals, inside a word, with
    digits behind letters, or in katakana.

    A word with one capital at its start may be the start of a sentence, or a weekday that becomes a date.
    Of a word in katakana the beginning counts: スマホ may become スマートフォン.
    """
    text = unicodedata.normalize("NFKC", question)
    no_names = {word for each in grammars() for word in each.abbreviations}
    spelt = [word for word in _SPELT.findall(text) if _is_entity(word) and word.upper() not in no_names]
    return spelt + [word[:2] for word in _KATAKANA.findall(text)]


def _is_entity(word: str) -> bool:
    digits = sum(character.isdecimal() for character in word)
    if digits and not word[0].isalpha():  # 2nd and 10am are no codes, 5GHz is one
        return digits >= FEWEST_DIGITS or any(character.isupper() for character in word)
    return digits > 0 or any(character.isupper() for character in word[1:])
