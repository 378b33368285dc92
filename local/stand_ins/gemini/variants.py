"""Names other variants of the quoted steps (Windows, macOS, iPhone) if the question names none."""

from collections.abc import Iterable
from dataclasses import dataclass

from local.stand_ins.gemini.choice import Candidate
from local.stand_ins.gemini.prompt import Ask

#: Other steps are as good an answer when their score is this near to that of the steps that are quoted. Steps
#: under a heading with a word of the question are worth more, so that none is as good as those asked for.
AS_GOOD = 0.8

_OTHERS = {"en": ("Other steps: {}", ", "), "ja": ("ほかの手順：{}", "、")}


@dataclass(frozen=True)
class Others:
    """The line that names other steps, and the numbers of the sources that have them."""

    text: str
    sources: frozenset[int]


def other_steps(ask: Ask, chosen: Iterable[Candidate], candidates: Iterable[Candidate]) -> Others | None:
    """The cited headings of the article's other steps. None if there are none, or the asker says which.

    Only the headings distinguish such steps, so they are quoted in the words of the article.
    """
    quoted = [each for each in chosen if each.block.kind == "steps"]
    if len(quoted) != 1:
        return None
    others = dict[str, int]()  # in order
    for each in candidates:
        if _is_as_good(each, quoted[0]):
            others.setdefault(each.block.heading, each.source.number)
    if not others:
        return None
    line, between = _OTHERS.get(ask.language, _OTHERS["en"])
    names = between.join(f"{heading} [{number}]" for heading, number in others.items())
    return Others(line.format(names), frozenset(others.values()))


def _is_as_good(other: Candidate, quoted: Candidate) -> bool:
    return (
        other.block.kind == "steps"
        and other.source.title == quoted.source.title
        and other.block.heading not in (quoted.block.heading, other.source.title)
        and other.score >= AS_GOOD * quoted.score
    )
