"""Finds the words of a text that say something about its subject, without a dictionary.

A *word* is what a person reads as one word, together with its terms. Two words are the same if their terms
are the same. This module splits a text into words by its script: words of an alphabet have spaces between
them, words in kanji and kana have none. The catalogue of a language lists the words that say nothing.
"""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from shared.language.catalogue import grammar, grammars
from shared.language.detect import of_words

KANJI = "[一-鿿々〆]"
#: A letter of any alphabet, not a digit, kana or kanji.
LETTER = r"[^\W\d_々-〇぀-ヿ㐀-鿿]"
# 申し込み, 引き継ぎ, 使い方, 問い合わせ; but し at the end is the verb of 承認します.
_KANA_IN_A_NOUN = "[まわ]?[いきぎしちびみりえけげせてめれ]"
_KANA_AFTER_A_NOUN = "[まわ]?[いきぎちびみりえけげせめれ]"
_WORD = re.compile(
    rf"""
    (?P<spelt>(?:{LETTER}{{1,2}}-(?={LETTER}))?(?:{LETTER}|[0-9])+(?:['’]{LETTER}+)?)
  | (?P<name>[ァ-ヺー]+
      | {KANJI}+(?:{_KANA_IN_A_NOUN}{KANJI}+)*
        (?:{_KANA_AFTER_A_NOUN}(?=[のをにがはとでもへや]|[^ぁ-ん]|$))?)
  | (?P<kana>[ぁ-ん]{{3,}})  # shorter ones are particles and endings
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Word:
    """A word as it is written, and its terms. `names` is false for words in hiragana only."""

    surface: str
    terms: tuple[str, ...]
    names: bool


def words(
    text: str, stem: Callable[[str], str] = str, stop_words: Container[str] | None = None
) -> Iterator[Word]:
    """The words of a text that say something about its subject, in order, after NFKC normalisation.

    The terms of a Japanese word are its character bigrams. The term of another word is its stem in lower
    case. `stop_words` are left out (None: those of the text's language).
    """
    if stop_words is None:
        stop_words = grammar(of_words(text)).stop_words
    for match in _WORD.finditer(_not_said().sub(" ", unicodedata.normalize("NFKC", text))):
        surface = match.group()
        if match.lastgroup != "spelt":
            yield Word(surface, _bigrams(surface), names=match.lastgroup == "name")
            continue
        # Wi-Fi is wifi, and e-mail is email.
        plain = surface.lower().replace("-", "").replace("’", "'")
        if plain not in stop_words:
            yield Word(surface, (stem(plain),), names=True)


def any_of(phrases: Iterable[str]) -> str:
    """A regular expression for one of these phrases, the longest first. Words of an alphabet match only
    whole.

    It matches nothing if there are no phrases.
    """
    ranked = sorted(phrases, key=len, reverse=True)
    return f"(?:{'|'.join(map(_whole, ranked))})" if ranked else "(?!)"


def _whole(phrase: str) -> str:
    first, last = (r"\b" if re.match(LETTER, edge) else "" for edge in (phrase[0], phrase[-1]))
    return f"{first}{re.escape(phrase)}{last}"


@cache
def _not_said() -> re.Pattern[str]:
    """Matches what is removed before splitting: phrases that ask, and elided words such as l'."""
    phrases = any_of(phrase for each in grammars() for phrase in each.asking_phrases)
    elided = any_of(f"{word}{mark}" for each in grammars() for word in each.elided for mark in "'’")
    return re.compile(f"{phrases}|{elided}", re.IGNORECASE)


def _bigrams(run: str) -> tuple[str, ...]:
    return tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)
