"""The local model's rewriting: a follow-up question with the words it leaves unsaid in brackets behind it."""

import re

from local.gemini.prompt import Ask
from local.gemini.topic import Topic
from local.rag.index import Index
from shared.salience import with_unsaid

_SMALL_TALK = re.compile(
    r"(?:(?:many )?thanks|thank you|hello|hi|hey|good (?:morning|evening)|(?:good)?bye)\b[^?？]{0,40}"
    r"|(?:ok|okay|great|perfect|got it|i see|yes|no|never mind)\W*"
    r"|(?:どうも)?(?:ありがとう|助かりました|こんにちは|おはよう|こんばんは|お疲れ|よろしく|了解|承知|わかりました|分かりました)[^?？]{0,20}"
    r"|(?:はい|いいえ|なるほど)\W*",
    re.IGNORECASE,
)


def rewritten(ask: Ask, index: Index) -> str:
    """The question as a query on one line; unchanged when it stands alone, greets, or nothing came before it.

    A follow-up becomes `Can you explain more? (VPN, configure)` or 「もっと詳しく（VPN 設定方法）」.
    """
    question = " ".join(ask.question.split())
    topic = Topic(index, ask.history)
    if not ask.history or _SMALL_TALK.fullmatch(question) or topic.stands_alone(question):
        return question
    unsaid = [word for word, _ in topic.salient(question)]
    return with_unsaid(question, unsaid, japanese=ask.language == "ja")
