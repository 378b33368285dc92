"""The local model's answering: sentences, list items and rows of the sources, each with its citation."""

import re
from dataclasses import dataclass, replace

from local.gemini.choice import NEARLY_AS_GOOD, Candidate, chosen_of
from local.gemini.evidence import Evidence
from local.gemini.passages import Block, blocks_of
from local.gemini.prompt import Ask
from local.gemini.quote import quoted
from local.gemini.topic import Topic
from local.gemini.unclear import question_back
from local.rag.index import Index
from local.rag.terms import is_japanese, terms, words

#: What part of the question the best block with its heading and title must bear on (`evidence.py`). Below it,
#: what was found is about something else, and "not in the knowledge base" is the honest answer.
LEAST_EVIDENCE = 0.61
#: What a word of the conversation counts next to a word of the question.
FROM_THE_TOPIC = 0.5
#: What a word counts that only the heading or the title has, and a block in the other language.
IN_THE_HEADING = 0.8
OTHER_LANGUAGE = 0.4
#: How much more a block is worth under a heading that has no other words than those asked for.
ABOUT_JUST_THIS = 0.5
#: How much more a list of steps is worth to somebody who asks how.
STEPS_FOR_HOW = 1.25
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


def extracted(ask: Ask, index: Index) -> Answer:
    """The blocks of `ask.sources` that answer the question best, in the order the sources have them.

    Somebody who only asks for more ("in more detail?") gets what the earlier answers have not said yet.
    """
    evidence = _evidence(ask, index)
    wanted = evidence.by_another_name() | _wanted(ask, index)
    candidates = _candidates(ask, wanted, evidence, told="")
    if all(candidate.evidence < LEAST_EVIDENCE for candidate in candidates):
        return Answer()
    best = sorted(candidates, key=lambda candidate: (-candidate.score, candidate.position))
    if ask_back := question_back(ask, evidence, [(c.source, c.block) for c in best]):
        return Answer(ask_back=ask_back)
    if not any(words(ask.question)):
        told = "".join(_plain(turn.text) for turn in ask.history if turn.role == "assistant")
        more = _candidates(ask, wanted, evidence, told)
        candidates = [candidate for candidate in more if candidate.score] or candidates
    chosen = chosen_of(candidates, asks_how=_asks_how(ask))
    text = "\n\n".join(quoted(candidate.block, candidate.source.number) for candidate in chosen)
    return Answer(text, tuple(sorted({candidate.source.number for candidate in chosen})))


def _asks_how(ask: Ask) -> bool:
    """Whether a way to do something is asked for, here or in the question that more is wanted about."""
    asked = [*(turn.text for turn in ask.history if turn.role == "user"), ask.question]
    own = next((text for text in reversed(asked) if any(words(text))), "")
    return _ASKS_HOW.search(own) is not None


def _evidence(ask: Ask, index: Index) -> Evidence:
    """What the question itself says, or where it says nothing, what it leaves unsaid."""
    known = [word.surface for source in ask.sources or [] for word in words(f"{source.title}\n{source.text}")]
    asked = list(words(ask.question)) or [word for word, _ in Topic(index, ask.history).salient(ask.question)]
    return Evidence(asked, index, known)


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


def _candidates(ask: Ask, wanted: dict[str, float], evidence: Evidence, told: str) -> list[Candidate]:
    """Every block, cut down to what bears on the question and is not in `told`, and how well it answers.

    Code answers nothing by itself: it goes with the words before it.
    """
    candidates = list[Candidate]()
    for source in ask.sources or []:
        for whole in blocks_of(source.text):
            block = _cut_down(_untold(whole, told), wanted)
            if not block.units:
                continue
            text = "\n".join(block.units)
            around = f"{text}\n{block.heading}\n{source.title}"
            said = _worth(text, wanted)
            score = said + IN_THE_HEADING * (_worth(around, wanted) - said)
            score *= 1 + ABOUT_JUST_THIS * _part_asked_for(block.heading, wanted)
            if block.kind == "steps" and _asks_how(ask):
                score *= STEPS_FOR_HOW
            if is_japanese(text) != (ask.language == "ja"):
                score *= OTHER_LANGUAGE
            share = evidence.share(around, source.text)
            if block.kind == "code":
                score = share = 0.0
            candidates.append(Candidate(len(candidates), source, block, score, share))
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
    if block.kind in ("steps", "code") or not block.units:
        return block
    most = MOST_OF_A_PARAGRAPH if block.kind == "paragraph" else MOST_OF_A_LIST
    worth = [_worth(unit, wanted) for unit in block.units]
    ranked = sorted(range(len(worth)), key=lambda number: (-worth[number], number))
    if block.kind != "paragraph":
        ranked = [number for number in ranked if worth[number] >= NEARLY_AS_GOOD * max(worth)]
    kept = sorted(ranked[:most])
    return replace(block, units=tuple(block.units[number] for number in kept))


def _worth(text: str, wanted: dict[str, float]) -> float:
    return sum(wanted.get(term, 0.0) for term in set(terms(text)))


def _plain(text: str) -> str:
    """A text without what quoting it adds or a chat client drops: citations, emphasis and white space."""
    return re.sub(r"\[\d+\]|[\s*_`]", "", text)
