"""Greetings, thanks and the like: there is nothing to search for in them, and nothing to rewrite."""

import re

from shared.messages.envelope import Envelope

_SAID_FIRST = (
    r"(?:ok(?:ay)?\W+)?(?:(?:(?:many )?thanks|thank you|hello|hi|hey|good (?:morning|evening|afternoon)"
    r"|(?:good)?bye|great|perfect|got it|i see|never mind)\b)"
)
#: What goes on from a courtesy and asks for nothing; "Thanks, now on a Mac" does.
_SAID_NEXT = (
    r"(?:[^\w?？]|\b(?:thanks|thank you|hello|there|and|again|all|everyone|team|guys|bot|so|very|a|lot|much"
    r"|many|for|your|the|help|helping|answer|quick|in advance|that|this|it|works?|worked|helps?|helped|is|was"
    r"|clear|good|great|perfect|nice|kindly|day|have|see|now|you too|you)\b)*"
)
_SAID_FIRST_IN_JAPANESE = (
    r"(?:はい\W+)?(?:どうも|本当に|大変)?(?:ありがとう|助かりました|こんにちは|おはよう|こんばんは|お疲れ"
    r"|よろしく|了解|承知|[わ分]かりました|なるほど)"
)
_SAID_NEXT_IN_JAPANESE = (
    r"(?:[^\w?？]|ございま(?:す|した)|です|でした|(?:し|いたし)?ました|(?:さま|様)(?:です|でした)"
    r"|お?願い(?:いた)?します|う|とう|本当に|とても|大変|どうも|助かり|ありがと|また|ね|よ)*"
)
_COURTESY = re.compile(
    rf"{_SAID_FIRST}{_SAID_NEXT}|(?:hello|hi|hey)\W*|{_SAID_FIRST_IN_JAPANESE}{_SAID_NEXT_IN_JAPANESE}",
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


def is_only_polite(envelope: Envelope) -> bool:
    """Whether a question is small talk after what was said before it, and not to be taken literally."""
    before = envelope.history[-1].text if envelope.history else ""
    return not envelope.literal and is_small_talk(envelope.question.text, before)


def stands_alone(envelope: Envelope) -> bool:
    """Whether nothing that was said before bears on what is searched for: there was nothing, the question is
    small talk, or it is to be taken literally."""
    return envelope.literal or not envelope.history or is_only_polite(envelope)
