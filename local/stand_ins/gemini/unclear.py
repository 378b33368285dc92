"""Finds questions that can mean several articles, and asks which one is meant."""

import re
from collections.abc import Iterable

from local.stand_ins.gemini.evidence import IN_THE_BLOCK, Evidence
from local.stand_ins.gemini.passages import Block
from local.stand_ins.gemini.prompt import Ask, Source
from local.stand_ins.rag.terms import is_japanese, terms

#: A question with more significant words is clear enough.
MOST_WORDS = 2
#: In how many articles there must be an answer, by how much the question says: a word 1, a name 2.
LEAST_ARTICLES = {1: 2, 2: 3, 3: 3}
#: An article answers if one of its blocks has all significant words. The title does not count.
ANSWERS = IN_THE_BLOCK
#: More choices than a person wants to read.
MOST_CHOICES = 4

_ASK_BACK = {
    "en": ("Which one do you mean: {choices}?", "“{}”", ", ", " or "),
    "ja": ("どれについてのご質問でしょうか：{choices}？", "「{}」", "", ""),
}
_SUBTITLE = re.compile(r"\s*[:：（(].*")


def question_back(ask: Ask, evidence: Evidence, blocks: Iterable[tuple[Source, Block]]) -> str:
    """The clarifying question. Empty if the meaning is clear, also from the conversation.

    "How long does the approval take?" has an answer in many articles, and names none of them.
    """
    about = evidence.telling
    says_nothing = not about.claims and about.kind is None
    said = (len(about.claims) or 1) + sum(claim.name for claim in about.claims)
    if ask.history or says_nothing or len(about.claims) > MOST_WORDS or said not in LEAST_ARTICLES:
        return ""
    answering = [source.title for source, block in blocks if _answers(block, ask.language, about)]
    titles = list(dict.fromkeys(answering))
    if len(titles) < LEAST_ARTICLES[said] or _names_one(ask, about):
        return ""
    return _asked(titles[:MOST_CHOICES], ask.language)


def _answers(block: Block, language: str, about: Evidence) -> bool:
    if is_japanese("\n".join(block.units)) != (language == "ja"):
        return False
    return max(about.shares(block.units, block.heading), default=0.0) >= ANSWERS


def _names_one(ask: Ask, about: Evidence) -> bool:
    """Whether a word of the question is in the title of one of the articles that were found, or of all."""
    found = {_SUBTITLE.sub("", source.title) for source in ask.sources or []}
    titles = [set(terms(title)) for title in found]
    named = [sum(title.issuperset(claim.written) for title in titles) for claim in about.claims]
    return any(count in {1, len(titles)} for count in named)


def _asked(titles: list[str], language: str) -> str:
    sentence, quoted, between, last = _ASK_BACK.get(language, _ASK_BACK["en"])
    *first, end = [quoted.format(_SUBTITLE.sub("", title)) for title in titles]
    return sentence.format(choices=f"{between.join(first)}{last}{end}")
