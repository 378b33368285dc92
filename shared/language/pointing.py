"""What "the second one" and 「最後の手順」 point at: an item of the list in an earlier answer, by rule.

How a language points is in its catalogue; how a list is written is the same in all of them.
"""

import re
from collections.abc import Iterable
from functools import cache

from shared.language.catalogue import grammar, languages
from shared.language.words import any_of, words
from shared.messages.envelope import Language

#: A question that says more than so many words besides is about something else ("the last step of a refund").
MOST_WORDS_BESIDES = 1
#: Characters of an item that are searched for.
LONGEST_ITEM = 120
LAST = -1

_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:(?:\d{1,2}[.)]|[-*•])[ \t]+|(?:\d{1,2}．|・)[ \t]*)(?P<text>\S.*)")
#: Citations, and what Markdown writes around words.
_NOT_SAID = re.compile(r"\s*\[\d+\]|[*_`]")


def pointed_out(question: str, answers: Iterable[str]) -> str:
    """The question with the item that it points at in place of "the second one"; else the question as it is.

    `answers` are in the order they were given. The newest one that has a list counts. Nothing is guessed when
    it has several lists, or no such item, or when the question says by itself what it is about.
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
    """The numbers that words of a language stand for."""
    said = grammar(language).pointing
    names = (said.ordinals, said.cardinals)
    counted = {word: number for each in names for number, words in enumerate(each, start=1) for word in words}
    return counted | dict.fromkeys(said.last, LAST)


@cache
def _points(language: Language) -> re.Pattern[str]:
    """The patterns of a catalogue. `<ordinal>` stands for second, 2nd or last in them, `<cardinal>` for two
    or 2, each as the one group, and `<noun>` for what items are called."""
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
    """The lists of a text that have two items or more, without what is indented below an item."""
    lists: list[list[str]] = [[]]
    indent = 0
    for line in filter(str.strip, answer.splitlines()):
        item = _ITEM.fullmatch(line)
        if item is None:
            if not line[0].isspace():  # else it goes on from the item before it
                lists.append([])
            continue
        indent = len(item["indent"]) if not lists[-1] else indent
        if len(item["indent"]) <= indent:
            lists[-1].append(_NOT_SAID.sub("", item["text"])[:LONGEST_ITEM].strip(" .。"))
    return [each for each in lists if len(each) > 1]
