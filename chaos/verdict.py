"""What the checker can say: how a question ended, and how the rule was broken for it."""

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from chaos.outside import Json

_REFERENCE = re.compile(r"TW-[0-9a-f]{8}\b", re.IGNORECASE)


class Kind(StrEnum):
    """How the rule can be broken."""

    LOST = "lost"
    DOUBLED = "doubled"
    WRONG_THREAD = "wrong thread"
    TURN_MISSING = "turn missing"
    TURN_DOUBLED = "turn doubled"
    TURN_UNEARNED = "turn without an answer"
    TURN_ORDER = "turns not in order of asking"
    CROSSED_OVER = "crossed over"
    CASE_MISSING = "case missing"
    NOT_ANSWERED = "not answered after the replay"
    NOT_IN_PLACE = "replaced instead of updated"
    MANGLED = "dead letter that names no question"
    UNSETTLED = "still under way"


class End(StrEnum):
    """What the last word to a question was."""

    ANSWER = "answered"
    CLARIFICATION = "asked back"
    FALLBACK = "not in the knowledge base"
    APOLOGY = "apologised"


@dataclass(frozen=True)
class Violation:
    """The rule is broken for a question (the name of the person's message)."""

    kind: Kind
    question: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """What was found: the final message of each question that has one, and all violations."""

    messages: dict[str, Json]
    violations: list[Violation]

    @property
    def ends(self) -> Counter[End]:
        """How many questions ended how."""
        return Counter(map(end_of, self.messages.values()))


def end_of(message: Json) -> End:
    """What a final message is: only an apology has a reference, only an answer shows sources, and only a
    question back ends in a question mark."""
    if _REFERENCE.search(message["text"]):
        return End.APOLOGY
    if _shows_sources(message):
        return End.ANSWER
    return End.CLARIFICATION if message["text"].rstrip().endswith(("?", "？")) else End.FALLBACK


def _shows_sources(message: Json) -> bool:
    """Whether a card lists anything under a heading; what was searched for stands under none."""
    sections = (
        section for card in message.get("cardsV2", ()) for section in card.get("card", {}).get("sections", ())
    )
    return any("header" in section for section in sections)
