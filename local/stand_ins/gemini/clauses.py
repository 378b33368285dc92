"""Whether a question has one clause, or is long, with background, as in a chat."""

import re
import unicodedata
from dataclasses import dataclass

from local.stand_ins.gemini.asides import is_aside
from local.stand_ins.rag.terms import words

_ASKING_WORD = (
    r"(?:who|whom|whose|what|what's|when|where|where's|which|why|how|how's|can|could|may|might|must|should|shall"
    r"|will|would|do|does|did|is|are|was|were|has|have|any|am)"
)
#: Where a clause ends: with a sentence, or before one that asks; in Japanese behind が, けど and ので.
_END = re.compile(
    rf"(?<=[.?!…])\s+|(?<=[。？！…])|\n+|(?:,|\s[-–—])\s+(?=(?:(?:and|but|so|or)\s+)?{_ASKING_WORD}\s)"
    r"|(?<=すが)、?(?!い)|(?<=たが)、|(?<=けど)、?|(?<=けれど)、?|(?<=ので)、|(?<=たら)、",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"\?|(?:^|,\s)\W*(?:(?:and|but|so|or|also|please|ok|hi|hello|hey|sorry)\W+)*{_ASKING_WORD}\s"
    r"|\b(?:(?:tell|show) me|i(?:'d| would) (?:like|love)|i (?:want|need)|need to|looking for|how to)\b"
    r"|か(?:な|ね|しら)?[。\s]*$|たい|教え|ほしい|欲しい|くださ|下さ|どう|どこ|何(?![回度か])|誰|いつ|いくら|どの|っけ",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Form:
    """How a question is told: whether a clause of it does not ask but says what is the matter, and whether it
    has such a one or several clauses ("I fly at noon, and StarKey wants a code. Is that right?")."""

    tells: bool = False
    at_length: bool = False


ONE_QUESTION = Form()


def form_of(question: str) -> Form:
    """The form of the question."""
    plain = unicodedata.normalize("NFKC", question).replace("’", "'")
    clauses = [clause for clause in _END.split(plain) if _ASKS.search(clause) or _says_something(clause)]
    tells = not all(map(_ASKS.search, clauses))
    return Form(tells, at_length=tells or len(clauses) > 1)


def _says_something(clause: str) -> bool:
    return not all(is_aside(word) for word in words(clause))
