"""From text to index terms: English stems and Japanese character bigrams, side by side in one index.

A *word* is what a person reads as one word, together with the index terms it stands for: search needs the
terms, and whoever shows a person what was searched for needs the words.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import Stemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS

#: Words that ask, thank or greet; they say nothing about the subject.
_ASKING = """
    please tell show let know want need like would could may might must shall get got give go going us one
    also thank thanks hello hi hey ok okay yes sure question answer anybody anyone someone explain describe
    mean way set long many much still yet instead else without etc work works happen happens detail details
    can't cannot couldn't won't don't doesn't isn't aren't wasn't i'm i've i'd it's what's how's
"""
_STOP_WORDS = frozenset((*STOPWORDS_EN_PLUS, *_ASKING.split()))

#: Phrases that ask, and endings that most sentences have.
_JAPANESE_PHRASES = """
    教えてください 教えて下さい 教えてほしい 教えて 知りたい お願いします お願いいたします お願い 説明して
    詳しく くわしく もっと もう少し もう一度 具体的に どうすれば どうしたら どうやって どのように どうして
    どう どんな どれくらい どのくらい どこ どれ どの どちら いくら いくつ いつ なぜ なに 何 誰 だれ
    ください 下さい でしょうか ですか です でした でき ます ますか ました ません ない なく して した する
    すれば したら したい され いる いて ある あり について に関して とは という といった のため ため
    から まで ので のに けど けれど 場合 とき 時は こと もの ところ また または および それでは それ その
    これ この あれ あの そこ ここ ほかに 他に ほか いい よい 良い ありがとう ございます ございました
    こんにちは はい
"""
_LONGEST_FIRST = sorted(_JAPANESE_PHRASES.split(), key=len, reverse=True)
_STOP_PHRASES = re.compile("|".join(map(re.escape, _LONGEST_FIRST)))

_KANJI = "[一-鿿々〆]"
# 申し込み, 引き継ぎ, 使い方, 問い合わせ; but し at the end is the verb of 承認します.
_KANA_IN_A_NOUN = "[まわ]?[いきぎしちびみりえけげせてめれ]"
_KANA_AFTER_A_NOUN = "[まわ]?[いきぎちびみりえけげせめれ]"
_WORD = re.compile(
    rf"""
    (?P<latin>(?:[a-z]{{1,2}}-(?=[a-z]))?[a-z0-9]+(?:['’][a-z]+)?)
  | (?P<name>[ァ-ヺー]+
      | {_KANJI}+(?:{_KANA_IN_A_NOUN}{_KANJI}+)*
        (?:{_KANA_AFTER_A_NOUN}(?=[のをにがはとでもへや]|[^ぁ-ん]|$))?)
  | (?P<kana>[ぁ-ん]{{3,}})  # shorter ones are particles and endings
    """,
    re.VERBOSE | re.IGNORECASE,
)
_stem = Stemmer.Stemmer("english").stemWord


@dataclass(frozen=True)
class Word:
    """A word as written, and its index terms. `names` is false for words written in hiragana alone."""

    surface: str
    terms: tuple[str, ...]
    names: bool


def words(text: str) -> Iterator[Word]:
    """The words of a text that say something about its subject, in order, after NFKC normalisation."""
    for match in _WORD.finditer(_STOP_PHRASES.sub(" ", unicodedata.normalize("NFKC", text))):
        surface = match.group()
        if match.lastgroup != "latin":
            yield Word(surface, _bigrams(surface), names=match.lastgroup == "name")
            continue
        # Wi-Fi is wifi, and e-mail is email.
        plain = surface.lower().replace("-", "").replace("’", "'")
        if plain not in _STOP_WORDS:
            yield Word(surface, (_stem(plain),), names=True)


def terms(text: str) -> list[str]:
    """The index terms of a text, in order, repeated as often as they occur."""
    return [term for word in words(text) for term in word.terms]


def is_japanese(text: str) -> bool:
    """Whether a text has kana or kanji in it: an English text has none, a Japanese one always."""
    return re.search(rf"[ぁ-んァ-ヺ]|{_KANJI}", text) is not None


def _bigrams(run: str) -> tuple[str, ...]:
    return tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)
