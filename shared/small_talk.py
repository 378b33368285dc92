"""Greetings, thanks and the like: there is nothing to search for in them, and nothing to rewrite."""

import re

_SMALL_TALK = re.compile(
    r"(?:(?:many )?thanks|thank you|hello|hi|hey|good (?:morning|evening)|(?:good)?bye)\b[^?？]{0,40}"
    r"|(?:ok|okay|great|perfect|got it|i see|yes|no|never mind)\W*"
    r"|(?:どうも)?(?:ありがとう|助かりました|こんにちは|おはよう|こんばんは|お疲れ|よろしく|了解|承知|わかりました|分かりました)[^?？]{0,20}"
    r"|(?:はい|いいえ|なるほど)\W*",
    re.IGNORECASE,
)


def is_small_talk(text: str) -> bool:
    """Whether a text only greets, thanks or agrees."""
    return _SMALL_TALK.fullmatch(text.strip()) is not None
