"""What "the second one" and 「最後の手順」 point at: an item of the list in an earlier answer, by rule."""

import re
from collections.abc import Iterable

from shared.language.words import words

#: A question that says more than so many words besides is about something else ("the last step of a refund").
MOST_WORDS_BESIDES = 1
#: Characters of an item that are searched for.
LONGEST_ITEM = 120
LAST = -1

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_KANJI = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十")
_KANA = ("ひと", "ふた", "みっ", "よっ", "いつ")
_NUMBERS = {
    word: number
    for names in (_ORDINALS, _CARDINALS, _KANJI, _KANA)
    for number, word in enumerate(names, start=1)
} | {"last": LAST, "final": LAST, "最後": LAST, "最初": 1}

_NOUN = r"(?:one|step|item|option|point|way|method)\b"
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)}|last|final|\d{{1,2}}(?:st|nd|rd|th))"
_COUNT = rf"(?:\d{{1,2}}|{'|'.join((*_KANJI, *_KANA))})"
_NOUN_IN_JAPANESE = "(?:手順|ステップ|項目|方法|選択肢|もの|やつ)"
_POINTS = re.compile(
    rf"""
    \bthe\s+(?P<the>{_ORDINAL})(?:\s+{_NOUN}|(?=\W*$))  # the second one, the last?
  | \b(?P<a>{_ORDINAL})\s+{_NOUN}
  | \b(?:step|item|option|point|number)\s+(?P<number>\d{{1,2}}|{"|".join(_CARDINALS)})\b
  | (?P<count>{_COUNT})(?:つ目|番目|個目)(?:の{_NOUN_IN_JAPANESE})?
  | (?P<end>最初|最後)の(?:{_NOUN_IN_JAPANESE}|(?=は))
  | (?:手順|ステップ|項目|方法|選択肢)\s*(?P<after>\d{{1,2}})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:(?:\d{1,2}[.)]|[-*•])[ \t]+|(?:\d{1,2}．|・)[ \t]*)(?P<text>\S.*)")
#: Citations, and what Markdown writes around words.
_NOT_SAID = re.compile(r"\s*\[\d+\]|[*_`]")


def pointed_out(question: str, answers: Iterable[str]) -> str:
    """The question with the item that it points at in place of "the second one"; else the question as it is.

    `answers` are in the order they were given. The newest one that has a list counts. Nothing is guessed when
    it has several lists, or no such item, or when the question says by itself what it is about.
    """
    match = _POINTS.search(question)
    if match is None:
        return question
    before, after = question[: match.start()], question[match.end() :]
    if len([*words(before), *words(after)]) > MOST_WORDS_BESIDES:
        return question
    newest = next(filter(None, map(_lists, reversed(list(answers)))), [])
    number = _number(match[match.lastgroup or 0])
    if len(newest) != 1 or number not in (LAST, *range(1, len(newest[0]) + 1)):
        return question
    return f"{before}{newest[0][number if number == LAST else number - 1]}{after}"


def _number(written: str) -> int:
    """2 for second, 2nd, two, 二 or 2; -1 for the last."""
    lower = written.lower()
    return _NUMBERS[lower] if lower in _NUMBERS else int(re.sub(r"\D", "", lower))


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
