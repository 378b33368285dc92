"""Detects the language of a text, and chooses the language for a person.

A language with its own letters is detected by its letters. Languages that share letters are detected by
frequent words. Both are in the catalogues. This is enough for the few languages that a bot speaks. A library
for a hundred languages has megabytes of data and guesses when a text is short.
"""

import re
import unicodedata
from collections.abc import Iterable

from shared.language.catalogue import grammar, languages
from shared.messages.envelope import Language

#: A text with fewer words than this (of two letters or more) may be only the name of a product.
ENOUGH_WORDS = 3
_LONGER_WORD = re.compile(r"[^\W\d_]{2,}")
#: Single letters are left out, because they say little: "y" is a word in French and in Welsh.
_WORD = re.compile(r"[^\W\d_]{2,}(?:'[^\W\d_]+)?|[^\W\d_]'[^\W\d_]+")


def plain(text: str) -> str:
    """A text in a form for comparing: NFKC, straight apostrophes, no white space around it."""
    return unicodedata.normalize("NFKC", text).replace("’", "'").strip()


def of_person(locale: str | None, text: str, spoken: tuple[Language, ...] | None = None) -> Language:
    """The language for a person, one of those `spoken` (None: all).

    Their locale decides (`ja`, `ja-JP`, `en_US`), then the text that they write. If neither helps, it is the
    first language.
    """
    among = spoken or languages()
    theirs = re.split(r"[-_]", locale or "")[0].lower()
    if theirs in among:
        return theirs
    return _by_letters(text, among) or _by_words(text, among) or among[0]


def of_text(text: str, otherwise: Language) -> Language:
    """The language of a text. `otherwise` if there is too little text, for example only a product name."""
    if by_letters := _by_letters(text, languages()):
        return by_letters
    if len(_LONGER_WORD.findall(text)) < ENOUGH_WORDS:
        return otherwise
    alike = _without_letters(languages())
    return _by_words(text, alike) or (otherwise if otherwise in alike else alike[0])


def of_words(text: str) -> Language:
    """The language of a text's words, among those that share letters. The first of them if it is unclear."""
    return _by_words(text, languages()) or _without_letters(languages())[0]


def _by_letters(text: str, among: Iterable[Language]) -> Language | None:
    """The language whose own letters are in this text."""
    return next((each for each in among if _has(grammar(each).letters, text)), None)


def _has(letters: str, text: str) -> bool:
    return bool(letters) and re.search(letters, text) is not None


def _without_letters(among: Iterable[Language]) -> list[Language]:
    return [each for each in among if not grammar(each).letters]


def _by_words(text: str, among: Iterable[Language]) -> Language | None:
    """The language with the most words in the text, of those without letters of their own. None for a tie."""
    alike = _without_letters(among)
    if len(alike) < 2:
        return None
    said = _WORD.findall(plain(text).lower())
    counted = sorted(((_count(said, each), each) for each in alike), reverse=True)
    (most, best), (next_most, _) = counted[:2]
    return best if most > next_most else None


def _count(said: Iterable[str], language: Language) -> int:
    """How many words are frequent in a language. The first part of l'imprimante and qu'est counts, too."""
    words, elided = grammar(language).stop_words, grammar(language).elided
    found = 0
    for word in said:
        first, apostrophe, rest = word.partition("'")
        found += word in words or (bool(apostrophe) and (first in elided) + (rest in words))
    return found
