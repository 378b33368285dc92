"""Resolves "the second one" and 「最後の手順」 by rule: they point at an item of a list in an earlier answer.

The catalogue of a language has the words for pointing. Lists look the same in all languages.
"""

import re
from collections.abc import Iterable
from functools import cache

from shared.language.catalogue import grammar, languages
from shared.language.words import any_of, words
from shared.messages.envelope import Language

#: A question with more other words than this is about something else ("the last step of a refund").
MOST_WORDS_BESIDES = 1
#: Most characters of an item in a query.
LONGEST_ITEM = 120
LAST = -1

_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:(?:\d{1,2}[.)]|[-*•])[ \t]+|(?:\d{1,2}．|・)[ \t]*)(?P<text>\S.*)")
#: Citations, and the marks of Markdown around words.
_NOT_SAID = re.compile(r"\s*\[\d+\]|[*_`]")


def pointed_out(question: str, answers: Iterable[str]) -> str:
    """The question with "the second one" replaced by the item that it points at.

    `answers` are in order of time. The newest answer with a list counts. The question stays unchanged if this
    answer has several lists or no such item, or if the question itself says what it is about.
    """
    found = [(match, each) for each in languages() if (match := _points(each).search(question))]
    if not found:
        return question
    match, language = min(found, key=lambda each: each[0].start())
    before, after = question[: match.start()], question[match.end() :]
    if len([*words(before), *words(after)]) > MOST_WORDS_BESIDES:
        return question
    newest = next(filter(None, map(_lists, reversed(list(answers)))), [])
    number = _number(match[match.lastindex or 0], language)
    if len(newest) != 1 or number not in (LAST, *range(1, len(newest[0]) + 1)):
        return question
    return f"{before}{newest[0][number if number == LAST else number - 1]}{after}"


def _number(written: str, language: Language) -> int:
    """2 for second, 2nd, two, 二 or 2; -1 for the last."""
    lower, numbers = written.lower(), _numbers(language)
    return numbers[lower] if lower in numbers else int(re.sub(r"\D", "", lower))


@cache
def _numbers(language: Language) -> dict[str, int]:
    """Words of a language → the numbers that they mean."""
    said = grammar(language).pointing
    names = (said.ordinals, said.cardinals)
    counted = {word: number for each in names for number, words in enumerate(each, start=1) for word in words}
    return counted | dict.fromkeys(said.last, LAST)


@cache
def _points(language: Language) -> re.Pattern[str]:
    """Matches words that point at an item, by the patterns of a catalogue.

    In a pattern `<ordinal>` means second, 2nd or last, and `<cardinal>` means two or 2. Each is the only
    group. `<noun>` means a word for items, such as step.
    """
    said = grammar(language).pointing
    suffix = "|".join(map(re.escape, said.suffixes)) or "(?!)"
    stands_for = {
        "<ordinal>": rf"({any_of(said.last.union(*said.ordinals))}|\d{{1,2}}(?:{suffix}))",
        "<cardinal>": rf"({any_of(frozenset[str]().union(*said.cardinals))}|\d{{1,2}})",
        "<noun>": any_of(said.nouns),
    }
    whole = "|".join(said.patterns)
    for name, pattern in stands_for.items():
        whole = whole.replace(name, pattern)
    return re.compile(whole, re.IGNORECASE)


def _lists(answer: str) -> list[list[str]]:
    """The lists of a text with two or more items. Items that are indented below an item are left out."""
    lists: list[list[str]] = [[]]
    indent = 0
    for line in filter(str.strip, answer.splitlines()):
        item = _ITEM.fullmatch(line)
        if item is None:
            if not line[0].isspace():  # an indented line continues the previous item
                lists.append([])
            continue
        indent = len(item["indent"]) if not lists[-1] else indent
        if len(item["indent"]) <= indent:
            lists[-1].append(_NOT_SAID.sub("", item["text"])[:LONGEST_ITEM].strip(" .。"))
    return [each for each in lists if len(each) > 1]
