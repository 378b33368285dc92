"""How the local model rewrites: it adds the unsaid words in brackets after a follow-up question."""

from local.stand_ins.gemini.prompt import Ask
from local.stand_ins.gemini.topic import Topic
from local.stand_ins.rag.index import Index
from shared.language.courtesies import is_small_talk
from shared.language.salience import with_unsaid


def rewritten(ask: Ask, index: Index) -> str:
    """The question as a query on one line. Unchanged if it stands alone, is a greeting, or is the first one.

    A follow-up becomes `Can you explain more? (VPN, configure)` or 「もっと詳しく（VPN 設定方法）」.
    """
    question = " ".join(ask.question.split())
    topic = Topic(index, ask.history)
    if not ask.history or is_small_talk(question, _before(ask)) or topic.stands_alone(question):
        return question
    unsaid = [word for word, _ in topic.salient(question)]
    return with_unsaid(question, unsaid, ask.language)


def _before(ask: Ask) -> str:
    """What was said last before the question."""
    return ask.history[-1].text if ask.history else ""
