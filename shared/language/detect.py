"""Which language a person is spoken to in, and which a text is written in.

Letters tell a language that has some of its own; frequent words tell apart languages that share letters.
Both are in the catalogues. That is enough to choose from the few languages that a bot speaks; a library that
knows a hundred of them weighs megabytes and guesses at short texts.
"""

import re
import unicodedata
from collections.abc import Iterable

from shared.language.catalogue import grammar, languages
from shared.messages.envelope import Language

#: Fewer words than this, of two letters or more, may be the name of a product.
ENOUGH_WORDS = 3
_LONGER_WORD = re.compile(r"[^\W\d_]{2,}")
#: A single letter tells little: "y" is a word in French and in Welsh.
_WORD = re.compile(r"[^\W\d_]{2,}(?:'[^\W\d_]+)?|[^\W\d_]'[^\W\d_]+")


def plain(text: str) -> str:
    """A text to compare with others: NFKC, straight apostrophes, no white space around."""
    return unicodedata.normalize("NFKC", text).replace("’", "'").strip()


def of_person(locale: str | None, text: str, spoken: tuple[Language, ...] | None = None) -> Language:
    """The asker's language, of those `spoken` (None: all): by their locale (`ja`, `ja-JP`, `en_US`), or else
    by what they write; else the first."""
    among = spoken or languages()
    theirs = re.split(r"[-_]", locale or "")[0].lower()
    if theirs in among:
        return theirs
    return _by_letters(text, among) or _by_words(text, among) or among[0]


def of_text(text: str, otherwise: Language) -> Language:
    """The language a text is written in; `otherwise` when it has too little of any (a product name)."""
    if by_letters := _by_letters(text, languages()):
        return by_letters
    if len(_LONGER_WORD.findall(text)) < ENOUGH_WORDS:
        return otherwise
    alike = _without_letters(languages())
    return _by_words(text, alike) or (otherwise if otherwise in alike else alike[0])


def of_words(text: str) -> Language:
    """The language that the words of a text are of, which are written in the letters that several languages
    share; the first such language where they do not tell."""
    return _by_words(text, languages()) or _without_letters(languages())[0]


def _by_letters(text: str, among: Iterable[Language]) -> Language | None:
    """The language that has letters of its own in this text."""
    return next((each for each in among if _has(grammar(each).letters, text)), None)


def _has(letters: str, text: str) -> bool:
    return bool(letters) and re.search(letters, text) is not None


def _without_letters(among: Iterable[Language]) -> list[Language]:
    return [each for each in among if not grammar(each).letters]


def _by_words(text: str, among: Iterable[Language]) -> Language | None:
    """Of several languages without letters of their own, the one that more words of the text are of than of
    any other."""
    alike = _without_letters(among)
    if len(alike) < 2:
        return None
    said = _WORD.findall(plain(text).lower())
    counted = sorted(((_count(said, each), each) for each in alike), reverse=True)
    (most, best), (next_most, _) = counted[:2]
    return best if most > next_most else None


def _count(said: Iterable[str], language: Language) -> int:
    """How many words are frequent ones of a language. In l'imprimante and qu'est the first part is one."""
    words, elided = grammar(language).stop_words, grammar(language).elided
    found = 0
    for word in said:
        first, apostrophe, rest = word.partition("'")
        found += word in words or (bool(apostrophe) and (first in elided) + (rest in words))
    return found
