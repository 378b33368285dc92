"""Questions as chaos asks them, for its tests."""

from typing import Any

from chaos.asked import Asked
from chaos.script import DIRECT, SPACES, TOPICS, Conversation, Topic

SPACE, ELSEWHERE, DM = SPACES[0], SPACES[1], next(iter(DIRECT))
VPN, ROAMING = TOPICS[SPACE][0], TOPICS["direct"][0]
Json = dict[str, Any]

#: The card below an answer.
SOURCES = {"card": {"sections": [{"header": "Sources", "widgets": [{}]}]}}


def conversation(space: str, topic: Topic, *questions: str) -> Conversation:
    return Conversation(space, "users/1001", topic, questions, hasty=False)


def asked(name: str, place: str, topic: Topic, text: str) -> Asked:
    space = "/".join(place.split("/")[:2])
    at = f"2026-11-30T10:00:0{name[-1]}"
    return Asked(f"{space}/messages/{name}", text, place, at, conversation(space, topic, text), 0.0)


THREAD, OTHER = f"{SPACE}/threads/t1", f"{ELSEWHERE}/threads/t2"
ANSWERED = asked("q1", THREAD, VPN, VPN.first)
FOLLOW_UP = asked("q2", THREAD, VPN, "Can you explain in more detail?")
UNKNOWN = asked("q3", OTHER, TOPICS[ELSEWHERE][0], TOPICS[ELSEWHERE][0].first)
DIRECTLY = asked("q4", DM, ROAMING, ROAMING.first)
FAILED = asked("q5", OTHER, TOPICS[ELSEWHERE][0], "How long does it take?")
ALL = [ANSWERED, FOLLOW_UP, UNKNOWN, DIRECTLY, FAILED]
APOLOGY = "Sorry, that did not work. Reference: TW-0A1B2C3D"


def said(question: Asked, text: str, *, thread: str | None = None, cards: bool = True) -> Json:
    space = "/".join(question.place.split("/")[:2])
    message = {
        "name": question.name + "-bot",
        "space": {"name": space},
        "thread": {"name": thread or question.place},
        "text": text,
        "createTime": question.created + "1",
    }
    return {**message, "cardsV2": [SOURCES]} if cards else message


def turns(question: Asked, answer: str) -> list[Json]:
    user = {"role": "user", "text": question.text, "question_id": question.name}
    return [
        user,
        {**user, "role": "assistant", "text": answer, "search_query": question.conversation.topic.key},
    ]


def final(text: str) -> Json:
    return {"final": {"text": text}}
