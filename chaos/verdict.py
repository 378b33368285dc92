"""The checker's verdict: the end of each question, and the violations of the rule."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from chaos.world import Json


class Kind(StrEnum):
    """The kinds of violations."""

    LOST = "lost"
    NO_END = "progress stands as the end"
    NOT_AS_RECORDED = "Chat shows other than what is recorded"
    NOT_RECORDED = "an end that is not recorded"
    DOUBLED = "doubled"
    LEFT_BESIDE = "progress left beside the end"
    POINTED_TWICE = "pointed to twice"
    COVERED = "an end covered for too long"
    WRONG_THREAD = "wrong thread"
    TURN_MISSING = "turn missing"
    TURN_DOUBLED = "turn doubled"
    TURN_DIFFERS = "the turn differs from what is recorded"
    TURN_UNEARNED = "turn without an answer"
    TURN_ORDER = "turns not in order of asking"
    STILL_PENDING = "answered, and waiting for an answer"
    CROSSED_OVER = "crossed over"
    CASE_MISSING = "case missing"
    CASE_DIFFERS = "the case says otherwise"
    CASE_DOUBLED = "two documents of one question"
    FORGOTTEN_KEPT = "forgotten, and kept"
    FORGOTTEN_SAID = "forgotten, and said afterwards"
    NOT_FORGOTTEN = "asked to forget, and nothing recorded"
    NOT_ANSWERED = "not answered after the replay"
    NOT_IN_PLACE = "replaced instead of updated"
    MANGLED = "dead letter that names no question"
    UNSETTLED = "still under way"


class End(StrEnum):
    """The ways in which a question can end."""

    ANSWER = "answered"
    CLARIFICATION = "asked back"
    FALLBACK = "not in the knowledge base"
    APOLOGY = "apologised"
    NOTICE = "told to ask otherwise"
    DELETED = "deleted by a person"
    FORGOTTEN = "forgotten"
    UNTOLD = "kept, and Chat refused to tell"


@dataclass(frozen=True)
class Violation:
    """The rule is broken for a question (the name of the person's message)."""

    kind: Kind
    question: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """What was found: the first message of each question that has any, all that show its end, how it ended,
    all violations, and for how many seconds each time an end was covered by something lower."""

    messages: dict[str, Json]
    shown: dict[str, list[Json]]
    ended: dict[str, End]
    violations: list[Violation]
    covers: list[float] = field(default_factory=list)

    @property
    def ends(self) -> Counter[End]:
        """How many questions ended how."""
        return Counter(self.ended.values())
