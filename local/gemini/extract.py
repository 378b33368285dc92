"""The local model's answering: whole sentences and list items of the sources, each with its citation."""

import re
from dataclasses import dataclass, replace

from local.gemini.passages import Block, blocks_of
from local.gemini.prompt import Ask
from local.gemini.topic import Topic
from local.rag.index import Index
from local.rag.terms import is_japanese, terms, words

#: What part of the question (by idf) the best block with its heading and title must hold. Below that, what
#: was found is about something else, and "not in the knowledge base" is the honest answer.
LEAST_EVIDENCE = 0.46
#: What a word of the conversation counts next to a word of the question.
FROM_THE_TOPIC = 0.5
#: What a word counts that only the heading or the title has, and a block in the other language.
IN_THE_HEADING = 0.8
OTHER_LANGUAGE = 0.4
#: How much more a block is worth under a heading that has no other words than those asked for.
ABOUT_JUST_THIS = 0.5
#: How much more a list of steps is worth to somebody who asks how.
STEPS_FOR_HOW = 1.25
STEPS_AT_LEAST = 0.5
#: Blocks this close to the best one are quoted too, up to so many sentences and items in all.
NEARLY_AS_GOOD = 0.7
MOST_UNITS = 6
MOST_OF_A_PARAGRAPH = 3
MOST_OF_A_LIST = 5

_ASKS_HOW = re.compile(
    r"\bhow (?:do|can|to|should|would)\b|方法|手順|[りい]方|どうやって|どうすれば", re.IGNORECASE
)


@dataclass(frozen=True)
class Answer:
    """An answer in Markdown and the numbers of the sources it cites, or else a question back, or neither."""

    text: str = ""
    sources: tuple[int, ...] = ()
    ask_back: str = ""

    @property
    def answered(self) -> bool:
        """Whether the sources answer the question."""
        return bool(self.sources)


@dataclass(frozen=True)
class _Candidate:
    position: int
    source: int
    block: Block
    score: float
    evidence: float


def extracted(ask: Ask, index: Index) -> Answer:
    """The blocks of `ask.sources` that answer the question best, in the order the sources have them.

    Somebody who only asks for more ("in more detail?") gets what the earlier answers have not said yet.
    """
    wanted = _wanted(ask, index)
    candidates = _candidates(ask, wanted, index, told="")
    if all(candidate.evidence < LEAST_EVIDENCE for candidate in candidates):
        return Answer()
    if not any(words(ask.question)):
        told = "".join(_plain(turn.text) for turn in ask.history if turn.role == "assistant")
        more = _candidates(ask, wanted, index, told)
        candidates = [candidate for candidate in more if candidate.score] or candidates
    chosen = sorted(_chosen(candidates, asks_how=_asks_how(ask)), key=lambda candidate: candidate.position)
    text = "\n\n".join(_quoted(candidate) for candidate in chosen)
    return Answer(text, tuple(sorted({candidate.source for candidate in chosen})))


def _asks_how(ask: Ask) -> bool:
    """Whether a way to do something is asked for, here or in the question that more is wanted about."""
    asked = [*(turn.text for turn in ask.history if turn.role == "user"), ask.question]
    own = next((text for text in reversed(asked) if any(words(text))), "")
    return _ASKS_HOW.search(own) is not None


def _wanted(ask: Ask, index: Index) -> dict[str, float]:
    """What to look for: each term's weight, from the question and what it leaves unsaid."""
    asked = list(words(ask.question))
    wanted = index.asked_for([word for word in asked if word.names] or asked)
    topic = Topic(index, ask.history)
    if not topic.stands_alone(ask.question):
        for word, share in topic.salient(ask.question):
            for term, idf in index.asked_for([word]).items():
                wanted.setdefault(term, FROM_THE_TOPIC * share * idf)
    return wanted


def _candidates(ask: Ask, wanted: dict[str, float], index: Index, told: str) -> list[_Candidate]:
    """Every block, cut down to what bears on the question and is not in `told`, and how well it answers."""
    most = sum(wanted.values()) or 1.0
    candidates = list[_Candidate]()
    for source in ask.sources or []:
        for whole in blocks_of(source.text):
            block = _cut_down(_untold(whole, told), wanted)
            if not block.units:
                continue
            text = "\n".join(block.units)
            said = _worth(text, wanted)
            held = _worth(f"{text}\n{block.heading}\n{source.title}", wanted)
            score = said + IN_THE_HEADING * (held - said)
            score *= 1 + ABOUT_JUST_THIS * _part_asked_for(block.heading, wanted)
            if block.kind == "steps" and _asks_how(ask):
                score *= STEPS_FOR_HOW
            if is_japanese(text) != (ask.language == "ja"):
                score *= OTHER_LANGUAGE
            candidates.append(_Candidate(len(candidates), source.number, block, score, held / most))
    return candidates


def _untold(block: Block, told: str) -> Block:
    """The block without what has been said already; of steps all or nothing, so they can be followed."""
    new = tuple(unit for unit in block.units if not (told and _plain(unit) in told))
    return block if block.kind == "steps" and new else replace(block, units=new)


def _part_asked_for(heading: str, wanted: dict[str, float]) -> float:
    named = set(terms(heading))
    return len(named & wanted.keys()) / len(named) if named else 0.0


def _cut_down(block: Block, wanted: dict[str, float]) -> Block:
    """The block without what does not bear on the question; steps stay whole."""
    if block.kind == "steps" or not block.units:
        return block
    most = MOST_OF_A_PARAGRAPH if block.kind == "paragraph" else MOST_OF_A_LIST
    worth = [_worth(unit, wanted) for unit in block.units]
    ranked = sorted(range(len(worth)), key=lambda number: (-worth[number], number))
    if block.kind == "points":
        ranked = [number for number in ranked if worth[number] >= NEARLY_AS_GOOD * max(worth)]
    kept = sorted(ranked[:most])
    return replace(block, units=tuple(block.units[number] for number in kept))


def _worth(text: str, wanted: dict[str, float]) -> float:
    return sum(wanted.get(term, 0.0) for term in set(terms(text)))


def _chosen(candidates: list[_Candidate], *, asks_how: bool) -> list[_Candidate]:
    """The best block, the best steps if they are asked for, and others nearly as good while there is room."""
    ranked = sorted(candidates, key=lambda candidate: (-candidate.score, candidate.position))
    chosen = _with_lead(ranked[0], candidates)
    steps = [c for c in ranked if c.block.kind == "steps" and c.score >= STEPS_AT_LEAST * ranked[0].score]
    if asks_how and steps:
        return list(dict.fromkeys([*chosen, *_with_lead(steps[0], candidates)]))
    for candidate in ranked:
        good = candidate not in chosen and candidate.score >= NEARLY_AS_GOOD * ranked[0].score
        if good and sum(len(c.block.units) for c in (*chosen, candidate)) <= MOST_UNITS:
            chosen.append(candidate)
    return chosen


def _with_lead(candidate: _Candidate, candidates: list[_Candidate]) -> list[_Candidate]:
    """A block, and before a list the paragraph that leads to it."""
    if candidate.block.kind == "paragraph":
        return [candidate]
    return [*(other for other in candidates if _leads_to(other, candidate)), candidate]


def _leads_to(candidate: _Candidate, target: _Candidate) -> bool:
    return (
        candidate.block.kind == "paragraph"
        and candidate.position == target.position - 1
        and candidate.source == target.source
        and candidate.block.heading == target.block.heading
    )


def _quoted(candidate: _Candidate) -> str:
    citation = f"[{candidate.source}]"
    units = candidate.block.units
    if candidate.block.kind == "paragraph" or len(units) == 1:
        return " ".join(f"{unit} {citation}" for unit in units)
    if candidate.block.kind == "steps":
        return "\n".join(f"{number}. {unit} {citation}" for number, unit in enumerate(units, start=1))
    return "\n".join(f"- {unit} {citation}" for unit in units)


def _plain(text: str) -> str:
    """A text without what quoting it adds or a chat client drops: citations, emphasis and white space."""
    return re.sub(r"\[\d+\]|[\s*_`]", "", text)
