"""How the local model answers: with sentences, list items and rows of the sources, each with its citation."""

import re
from dataclasses import dataclass, replace

from local.stand_ins.gemini.answer_type import ASKS_HOW, asked_for, without_counter
from local.stand_ins.gemini.choice import NEARLY_AS_GOOD, Candidate, chosen_of
from local.stand_ins.gemini.claims import claims_of, names_in
from local.stand_ins.gemini.clauses import form_of
from local.stand_ins.gemini.evidence import Evidence
from local.stand_ins.gemini.passages import Block, blocks_of
from local.stand_ins.gemini.prompt import Ask, Source
from local.stand_ins.gemini.quote import quoted
from local.stand_ins.gemini.topic import Topic
from local.stand_ins.gemini.unclear import question_back
from local.stand_ins.gemini.variants import other_steps
from local.stand_ins.rag.index import Index
from local.stand_ins.rag.terms import is_japanese, terms, words

#: What part of the question a sentence of a block must bear on for the block to be quoted (`evidence.py`).
#: Where none does, what was found is about something else, and "not in the knowledge base" is honest.
LEAST_EVIDENCE = 0.67
#: The weight of a word from the conversation, compared with a word of the question.
FROM_THE_TOPIC = 0.5
#: The weight of a word that only the heading or the title has, and of a block in the other language.
IN_THE_HEADING = 0.8
OTHER_LANGUAGE = 0.4
#: The factor for a block under a heading that has only words of the question.
ABOUT_JUST_THIS = 0.5
#: The factor for a list of steps if the question asks how.
STEPS_FOR_HOW = 1.25
MOST_OF_A_PARAGRAPH = 3
MOST_OF_A_LIST = 5


@dataclass(frozen=True)
class Answer:
    """An answer in Markdown with the numbers of its sources, or a clarifying question, or neither."""

    text: str = ""
    sources: tuple[int, ...] = ()
    ask_back: str = ""

    @property
    def answered(self) -> bool:
        """Whether the sources answer the question."""
        return bool(self.sources)


def extracted(ask: Ask, index: Index) -> Answer:
    """The blocks of `ask.sources` that answer the question best, in the order the sources have them.

    A person who only asks for more ("in more detail?") gets blocks that earlier answers did not contain.
    """
    topic = Topic(index, ask.history)
    evidence = _evidence(ask, index, topic)
    wanted = evidence.by_another_name() | _wanted(ask, index, topic)
    asks_how = _asks_how(ask)
    candidates = _candidates(ask, wanted, evidence, told="")
    best = sorted(candidates, key=lambda candidate: (-candidate.score, candidate.position))
    if ask_back := question_back(ask, evidence, [(c.source, c.block) for c in best]):
        return Answer(ask_back=ask_back)
    if not evidence.claims or all(candidate.evidence < LEAST_EVIDENCE for candidate in candidates):
        return Answer()
    candidates = [c if c.evidence >= LEAST_EVIDENCE else replace(c, score=0.0) for c in candidates]
    if not any(words(ask.question)):
        told = "".join(_plain(turn.text) for turn in ask.history if turn.role == "assistant")
        more = _candidates(ask, wanted, evidence, told)
        candidates = [candidate for candidate in more if candidate.score] or candidates
    chosen = chosen_of(candidates, asks_how=asks_how)
    parts = [quoted(candidate.block, candidate.source.number) for candidate in chosen]
    others = other_steps(ask, chosen, candidates) if asks_how else None
    if others:
        parts.append(others.text)
    cited = {candidate.source.number for candidate in chosen}.union(others.sources if others else ())
    return Answer("\n\n".join(parts), tuple(sorted(cited)))


def _asks_how(ask: Ask) -> bool:
    """Whether a way to do something is asked for, here or in the question that a few words ("on Windows?")
    go on from."""
    asked = [*(turn.text for turn in ask.history if turn.role == "user"), ask.question]
    for text in reversed(asked):
        if ASKS_HOW.search(text):
            return True
        if len(list(words(text))) > 1:
            return False
    return False


def _evidence(ask: Ask, index: Index, topic: Topic) -> Evidence:
    """The question's own words or, if it has none, the words that it leaves unsaid."""
    known = [word.surface for source in ask.sources or [] for word in words(f"{source.title}\n{source.text}")]
    kind = asked_for(ask.question)
    asked = list(words(without_counter(ask.question)))
    asked = asked or [word for word, _ in topic.salient(ask.question)]
    claims = list(claims_of(asked, index, known, names_in(ask.question)))
    if ask.history and kind is None and all(claim.everyday for claim in claims):
        claims += claims_of((word for word, _ in topic.salient(ask.question)), index, known)
    return Evidence(claims, index, kind, form_of(ask.question))


def _wanted(ask: Ask, index: Index, topic: Topic) -> dict[str, float]:
    """What to look for: each term's weight, from the question and what it leaves unsaid."""
    asked = list(words(ask.question))
    wanted = index.asked_for([word for word in asked if word.names] or asked)
    if not topic.stands_alone(ask.question):
        for word, share in topic.salient(ask.question):
            for term, idf in index.asked_for([word]).items():
                wanted.setdefault(term, FROM_THE_TOPIC * share * idf)
    return wanted


def _candidates(ask: Ask, wanted: dict[str, float], evidence: Evidence, told: str) -> list[Candidate]:
    """Every block, cut down to what bears on the question and is not in `told`, and how well it answers.

    Code alone does not answer a question. It belongs to the words before it.
    """
    candidates = list[Candidate]()
    asks_how = _asks_how(ask)
    for source in ask.sources or []:
        for whole in blocks_of(source.text):
            new = _untold(whole, told)
            shares = _shares(new, source, evidence)
            block = _cut_down(new, wanted, shares)
            if not block.units:
                continue
            text = "\n".join(block.units)
            around = f"{text}\n{block.heading}\n{source.title}"
            said = _worth(text, wanted)
            score = said + IN_THE_HEADING * (_worth(around, wanted) - said)
            score *= 1 + ABOUT_JUST_THIS * _part_asked_for(block.heading, wanted)
            if block.kind == "steps" and asks_how:
                score *= STEPS_FOR_HOW
            if is_japanese(text) != (ask.language == "ja"):
                score *= OTHER_LANGUAGE
            if block.kind == "code":
                score = 0.0
            candidates.append(Candidate(len(candidates), source, block, score, max(shares)))
    return candidates


def _untold(block: Block, told: str) -> Block:
    """The block without what was said already. Steps stay complete, or are left out completely."""
    new = tuple(unit for unit in block.units if not (told and _plain(unit) in told))
    return block if block.kind == "steps" and new else replace(block, units=new)


def _part_asked_for(heading: str, wanted: dict[str, float]) -> float:
    named = set(terms(heading))
    return len(named & wanted.keys()) / len(named) if named else 0.0


def _shares(block: Block, source: Source, evidence: Evidence) -> list[float]:
    """How far each unit bears on the question; steps do so together, and code does not by itself."""
    if block.kind == "code" or not block.units:
        return [0.0]
    units = ["\n".join(block.units)] if block.kind == "steps" else list(block.units)
    return evidence.shares(units, f"{block.head}\n{block.heading}\n{source.title}")


def _cut_down(block: Block, wanted: dict[str, float], shares: list[float]) -> Block:
    """The block without units that do not fit the question. Steps stay complete."""
    if block.kind in ("steps", "code") or not block.units:
        return block
    most = MOST_OF_A_PARAGRAPH if block.kind == "paragraph" else MOST_OF_A_LIST
    worth = [_worth(unit, wanted) for unit in block.units]
    best = shares.index(max(shares))
    ranked = sorted(range(len(worth)), key=lambda number: (number != best, -worth[number], number))
    if block.kind != "paragraph":
        ranked = [number for number in ranked if worth[number] >= NEARLY_AS_GOOD * worth[best]]
    kept = sorted(ranked[:most])
    return replace(block, units=tuple(block.units[number] for number in kept))


def _worth(text: str, wanted: dict[str, float]) -> float:
    return sum(wanted.get(term, 0.0) for term in dict.fromkeys(terms(text)))  # in order, so that it repeats


def _plain(text: str) -> str:
    """A text without citations, emphasis and white space, which quoting adds or a chat client drops."""
    return re.sub(r"\[\d+\]|[\s*_`]", "", text)
