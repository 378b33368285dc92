"""Greetings, thanks and the like: there is nothing to search for in them, and nothing to rewrite."""

import re

_COURTESY = re.compile(
    r"(?:(?:many )?thanks|thank you|hello|hi|hey|good (?:morning|evening)|(?:good)?bye)\b[^?？]{0,40}"
    r"|(?:great|perfect|got it|i see|never mind)\W*"
    r"|(?:どうも)?(?:ありがとう|助かりました|こんにちは|おはよう|こんばんは|お疲れ|よろしく|了解|承知|わかりました|分かりました)[^?？]{0,20}"
    r"|なるほど\W*",
    re.IGNORECASE,
)
_AGREEMENT = re.compile(r"(?:ok|okay|yes|no|はい|いいえ)\W*", re.IGNORECASE)
_ASKS = re.compile(r"(?:[?？]|か。)\W*$")


def is_small_talk(text: str, after: str = "") -> bool:
    """Whether a text only greets, thanks or agrees.

    `after` is what was said just before: "yes" is an answer when that was a question.
    """
    said = text.strip()
    if _AGREEMENT.fullmatch(said):
        return _ASKS.search(after) is None
    return _COURTESY.fullmatch(said) is not None
