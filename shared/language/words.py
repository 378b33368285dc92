"""From text to words that say something about its subject, in English and Japanese, without a dictionary.

A *word* is what a person reads as one word, together with the terms it stands for: two words are the same
when their terms are.
"""

import re
import unicodedata
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

_FUNCTION_WORDS = """
    a about above after again against all am an and any are as at be because been before being below between
    both but by can did do does doing down during each few for from further had has have having he her here
    hers herself him himself his how i if in into is it its itself just me more most my myself no nor not now
    of off on once only or other our ours ourselves out over own same she should so some such than that the
    their theirs them themselves then there these they this those through to too under until up very was we
    were what when where which while who whom why will with you your yours yourself
    aren't didn't hadn't hasn't haven't she's shouldn't that's there's they're we're weren't wouldn't you're
    you've
"""
#: English words that ask, thank or greet; they say nothing about the subject.
ASKING = """
    please tell show let know want need like would could may might must shall get got give go going us one
    also thank thanks hello hi hey ok okay yes sure question answer anybody anyone someone explain describe
    mean way set long many much still yet instead else without etc work works happen happens detail details
    can't cannot couldn't won't don't doesn't isn't aren't wasn't i'm i've i'd it's what's how's
"""
STOP_WORDS = frozenset((*_FUNCTION_WORDS.split(), *ASKING.split()))

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

KANJI = "[一-鿿々〆]"
# 申し込み, 引き継ぎ, 使い方, 問い合わせ; but し at the end is the verb of 承認します.
_KANA_IN_A_NOUN = "[まわ]?[いきぎしちびみりえけげせてめれ]"
_KANA_AFTER_A_NOUN = "[まわ]?[いきぎちびみりえけげせめれ]"
_WORD = re.compile(
    rf"""
    (?P<latin>(?:[a-z]{{1,2}}-(?=[a-z]))?[a-z0-9]+(?:['’][a-z]+)?)
  | (?P<name>[ァ-ヺー]+
      | {KANJI}+(?:{_KANA_IN_A_NOUN}{KANJI}+)*
        (?:{_KANA_AFTER_A_NOUN}(?=[のをにがはとでもへや]|[^ぁ-ん]|$))?)
  | (?P<kana>[ぁ-ん]{{3,}})  # shorter ones are particles and endings
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Word:
    """A word as written, and its terms. `names` is false for words written in hiragana alone."""

    surface: str
    terms: tuple[str, ...]
    names: bool


def words(
    text: str, stem: Callable[[str], str] = str, stop_words: Container[str] = STOP_WORDS
) -> Iterator[Word]:
    """The words of a text that say something about its subject, in order, after NFKC normalisation.

    A Japanese word stands for its character bigrams, another one for its stem in lower case.
    """
    for match in _WORD.finditer(_STOP_PHRASES.sub(" ", unicodedata.normalize("NFKC", text))):
        surface = match.group()
        if match.lastgroup != "latin":
            yield Word(surface, _bigrams(surface), names=match.lastgroup == "name")
            continue
        # Wi-Fi is wifi, and e-mail is email.
        plain = surface.lower().replace("-", "").replace("’", "'")
        if plain not in stop_words:
            yield Word(surface, (stem(plain),), names=True)


def _bigrams(run: str) -> tuple[str, ...]:
    return tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)
