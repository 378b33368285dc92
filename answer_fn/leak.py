"""Whether an answer tells what the model was instructed, word for word: it is nobody's answer."""

import re
from functools import cache

from answer_fn.prompts import SYSTEM

#: So many words in a row that are in the instructions too are no chance.
IN_A_ROW = 8
_WORD = re.compile(r"\w+")


def tells_instructions(text: str) -> bool:
    """Whether a text holds a stretch of the instructions, whatever its case, marks and line breaks."""
    return not _stretches(text).isdisjoint(_secret())


@cache
def _secret() -> frozenset[tuple[str, ...]]:
    return _stretches(SYSTEM)


def _stretches(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return frozenset(tuple(words[start : start + IN_A_ROW]) for start in range(len(words) - IN_A_ROW + 1))
