"""When a question can mean several things: the articles that it may be about, to ask back which."""

import re
from collections.abc import Iterable

from local.gemini.evidence import Evidence
from local.gemini.passages import Block
from local.gemini.prompt import Ask, Source
from local.rag.terms import is_japanese, terms

#: A question of more words is clear enough, and so is one that fewer articles answer, by its number of words.
MOST_WORDS = 2
LEAST_ARTICLES = {1: 2, 2: 3}
#: An article answers when a block of it has this part of the question, its title not counted.
ANSWERS = 0.95
#: More choices than a person wants to read.
MOST_CHOICES = 4

_ASK_BACK = {
    "en": ("Which one do you mean: {choices}?", "“{}”", ", ", " or "),
    "ja": ("どれについてのご質問でしょうか：{choices}？", "「{}」", "", ""),
}
_SUBTITLE = re.compile(r"\s*[:：（(].*")


def question_back(ask: Ask, evidence: Evidence, blocks: Iterable[tuple[Source, Block]]) -> str:
    """The question that tells what is meant; empty when that is clear, or the conversation tells it.

    "How long does the approval take?" has an answer in many articles, and names none of them.
    """
    if ask.history or not 0 < len(evidence.claims) <= MOST_WORDS:
        return ""
    titles = dict[str, None]()  # in order
    for source, block in blocks:
        text = "\n".join([*block.units, block.heading])
        if is_japanese(text) == (ask.language == "ja") and evidence.share(text, "") >= ANSWERS:
            titles[source.title] = None
    if len(titles) < LEAST_ARTICLES[len(evidence.claims)] or _names_one(ask, evidence):
        return ""
    return _asked(list(titles)[:MOST_CHOICES], ask.language)


def _names_one(ask: Ask, evidence: Evidence) -> bool:
    """Whether a word of the question is in the title of one of the articles that were found, or of all."""
    titles = [set(terms(title)) for title in dict.fromkeys(source.title for source in ask.sources or [])]
    named = [sum(title.issuperset(claim.written) for title in titles) for claim in evidence.claims]
    return any(count in {1, len(titles)} for count in named)


def _asked(titles: list[str], language: str) -> str:
    sentence, quoted, between, last = _ASK_BACK[language]
    *first, end = [quoted.format(_SUBTITLE.sub("", title)) for title in titles]
    return sentence.format(choices=f"{between.join(first)}{last}{end}")
