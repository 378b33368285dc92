"""Which language a person is spoken to in, and which a text is written in."""

import re

from shared.language.texts import ENGLISH, languages, letters
from shared.messages.envelope import Language

_WORD = re.compile(r"[A-Za-z]{2,}")


def of_person(locale: str | None, text: str, spoken: tuple[Language, ...] = languages()) -> Language:
    """The asker's language, of those `spoken`: by their locale (`ja`, `ja-JP`, `en_US`), or by the letters of
    the text; else the first."""
    theirs = re.split(r"[-_]", locale or "")[0].lower()
    return theirs if theirs in spoken else _by_letters(text, spoken) or spoken[0]


def of_text(text: str, otherwise: Language) -> Language:
    """The language a text is written in; `otherwise` when it has too little of any (a product name)."""
    if by_letters := _by_letters(text, languages()):
        return by_letters
    return ENGLISH if len(_WORD.findall(text)) >= 3 else otherwise


def _by_letters(text: str, among: tuple[Language, ...]) -> Language | None:
    """The language that has letters of its own in this text."""
    return next((language for language in among if letters(language).search(text)), None)
