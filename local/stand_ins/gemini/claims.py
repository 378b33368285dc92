"""The claims of a question: its significant words, their forms in a passage, and their weights."""

import re
import tomllib
import unicodedata
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from local.stand_ins.gemini.asides import is_aside
from local.stand_ins.gemini.spelling import meant
from local.stand_ins.rag.index import Index
from local.stand_ins.rag.terms import terms
from shared.language.words import Word

#: The weight of a word that is present only as a synonym.
ANOTHER_WORD = 0.9
#: The highest weight of an everyday word, as a share of the highest idf. Articles may use another word.
EVERYDAY = 0.3
#: The factor for a code such as E203, because nothing else is as exact.
CODE = 2.0

#: Words of a question that say how it is asked, not what it is about.
_ASIDES = """
    think believe guess wonder suppose already again meantime meanwhile accident accidentally suddenly
    currently really actually maybe somehow possible somebody someone just say said shows appears
    whether two three four five six seven eight nine ten
    直 解決 困 方法 手順 期間 時間 最近 自分 何度
"""
#: Words with too many alternatives in articles: common verbs, and words about the asker's own case.
_EVERYDAY = """
    take make find found bring keep kept see look use put come came become leave try run stay hold turn start
    stop begin happen include contain need call name mean exist offer receive hand catch caught left
    often soon fast quick early late ago last next week month today yesterday tomorrow morning
    tell told inform ask new old own good bad right whole thing kind sort type lot problem issue help
    取 起 行 見 使 入 出 来 置 持 言 思 知 聞 分 始 終 受 送 付 変 開 押 選 待 要 前 後
    月前 年前 日前 週間前 先週 先月 昨日 今日 明日 必要 可能 利用 使用 対応 問題
"""
#: Words that name the kind of the answer (`answer_type.py`). They say as little as "how much".
_OF_THE_KIND = """
    cost price fee charge limit maximum size number date deadline 料金 費用 値段 価格 上限 容量 サイズ 期限
"""
_NAME = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Za-z0-9]+")
_SURE_NAME = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z]+[0-9]+|[A-Za-z][a-z0-9]*[A-Z][A-Za-z0-9]*)")
_FIRST_WORD = re.compile(r"(?:^|[.!?]\s)\W*[A-Z][A-Za-z0-9'’]*(?=[\s,.!?]|$)")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|am|pm)?", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z]+[0-9]{2,}")
_KANJI = "一-鿿々"
_VERB = re.compile(rf"([{_KANJI}])[ぁ-ん]{{0,2}}")
_COMPOUND = re.compile(rf"(?:[{_KANJI}]{{2}}){{2,}}")


@dataclass(frozen=True)
class Claim:
    """A word of the question: its terms as written, the ways in which a passage may have it, its weight (its
    idf), whether it is the name of something, whether it says little, and whether any article has it."""

    written: tuple[str, ...]
    ways: tuple[tuple[str, ...], ...]
    weight: float
    name: bool = False
    everyday: bool = False
    known: bool = True


def claims_of(
    asked: Iterable[Word], index: Index, known: Iterable[str], names: Container[str] = ()
) -> Iterator[Claim]:
    """The claims of a question's words; `known` are the words of the passages, as they are written."""
    written = frozenset(known)
    parts = [part for word in asked for part in _parts(word)]
    telling = [
        part for part in parts if not _NUMBER.fullmatch(part.surface) and part.terms[0] not in _stems(_ASIDES)
    ]
    for part in [part for part in telling if part.names] or telling:
        claim = replace(_claim(part, index, written), name=part.surface in names and not is_aside(part))
        if claim.known or not is_aside(part):
            yield claim


def names_in(question: str) -> frozenset[str]:
    """The names in a question (products, systems, codes), by how they are written: with a capital or a digit.

    The first word of an English sentence always has a capital, so it does not count.
    """
    plain = unicodedata.normalize("NFKC", question)
    within = _FIRST_WORD.sub(" ", plain)
    return frozenset((*_NAME.findall(within), *_SURE_NAME.findall(plain)))


def _parts(word: Word) -> list[Word]:
    """利用料金 claims 利用 and 料金: a compound of kanji has mostly two in each of its parts."""
    if not _COMPOUND.fullmatch(word.surface):
        return [word]
    halves = (word.surface[i : i + 2] for i in range(0, len(word.surface), 2))
    return [Word(half, (half,), word.names) for half in halves]


def _claim(word: Word, index: Index, written: frozenset[str]) -> Claim:
    verb = _VERB.fullmatch(word.surface)
    if verb:  # its ending may be another one, and its kanji is enough
        word = replace(word, terms=word.terms[:1])
    found = tuple(term for term in word.terms if index.knows(term))
    own = found if len(word.terms) > 1 and 2 * len(found) > len(word.terms) else word.terms
    weight = sum(min(index.idf(term), index.highest_idf) for term in own) / len(own)
    everyday = word.terms[0] in _stems(_EVERYDAY) or (verb is not None and verb[1] in _stems(_EVERYDAY))
    everyday = everyday or is_aside(word)
    if everyday:
        weight = min(weight, EVERYDAY * index.highest_idf)
    if _CODE.fullmatch(word.surface):
        weight *= CODE
    everyday = everyday or word.terms[0] in _stems(_OF_THE_KIND)
    if not found and (right := meant(word.surface, written)):
        return Claim(word.terms, (tuple(terms(right)) or own,), weight, everyday=everyday)
    ways = (own, *_others(word))
    known = any(index.knows(term) for way in ways for term in way)
    return Claim(word.terms, ways, weight, everyday=everyday, known=known)


def _others(word: Word) -> list[tuple[str, ...]]:
    verb = _VERB.fullmatch(word.surface)
    keys = (word.surface.lower(), " ".join(word.terms), verb[1] if verb else "")
    return next((synonyms()[key] for key in keys if key in synonyms()), [])


@cache
def _stems(words: str) -> frozenset[str]:
    return frozenset((*terms(words), *words.split()))


@cache
def synonyms() -> dict[str, list[tuple[str, ...]]]:
    """The terms of the other words of its group, by a word in lower case and by its stem."""
    groups = tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8"))
    found = dict[str, list[tuple[str, ...]]]()
    for line in (line for lines in groups.values() for line in lines):
        members = line.split()
        as_terms = {member: tuple(terms(member)) or (member,) for member in members}
        for member in members:
            others = [as_terms[other] for other in members if other != member]
            for key in {member.lower(), as_terms[member][0] if len(as_terms[member]) == 1 else ""} - {""}:
                found.setdefault(key, []).extend(others)
    return found
