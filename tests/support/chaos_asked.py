"""Questions as chaos asks them and a healthy world of their ends, for its tests."""

from collections import Counter
from typing import Any

from chaos.asked import Asked
from chaos.outside import Outside
from chaos.script import DIRECT, SPACES, TOPICS, Conversation, Topic
from chaos.world import CASES, RECORDS, TURNS, document_of

SPACE, ELSEWHERE, DM = SPACES[0], SPACES[1], next(iter(DIRECT))
VPN, ROAMING = TOPICS[SPACE][0], TOPICS["direct"][0]
Json = dict[str, Any]

#: The card below an answer.
SOURCES = {"card": {"sections": [{"header": "Sources", "widgets": [{}]}]}}
#: The card of a message that is no answer yet, and what it says where cards are refused.
PROGRESS, TITLE = {"cardId": "progress", "card": {}}, "Working on your question…"
TOO_MANY = "You have asked more than 10 questions within a minute. Please ask this one again in a moment."


def conversation(space: str, topic: Topic, *questions: str) -> Conversation:
    return Conversation(space, "users/1001", topic, questions, hasty=False)


def asked(name: str, place: str, topic: Topic, text: str) -> Asked:
    space = "/".join(place.split("/")[:2])
    at = f"2026-11-30T10:00:0{name[-1]}.000000Z"
    return Asked(f"{space}/messages/{name}", text, place, at, conversation(space, topic, text), 0.0)


THREAD, OTHER = f"{SPACE}/threads/t1", f"{ELSEWHERE}/threads/t2"
ANSWERED = asked("q1", THREAD, VPN, VPN.first)
FOLLOW_UP = asked("q2", THREAD, VPN, "Can you explain in more detail?")
UNKNOWN = asked("q3", OTHER, TOPICS[ELSEWHERE][0], TOPICS[ELSEWHERE][0].first)
DIRECTLY = asked("q4", DM, ROAMING, ROAMING.first)
FAILED = asked("q5", OTHER, TOPICS[ELSEWHERE][0], "How long does it take?")
REPLAYED = asked("q6", OTHER, TOPICS[ELSEWHERE][0], "What do I need for that?")
ALL = [ANSWERED, FOLLOW_UP, UNKNOWN, DIRECTLY, FAILED, REPLAYED]
APOLOGY = "Sorry, that did not work. Reference: TW-0A1B2C3D"
SAID = {
    ANSWERED.name: "Like this. [1]",
    FOLLOW_UP.name: "And so on. [1]",
    UNKNOWN.name: "I do not know.",
    DIRECTLY.name: "Switch it on. [1]",
    FAILED.name: APOLOGY,
    REPLAYED.name: "A phone. [1]",
}


def said(question: Asked, text: str, *, thread: str | None = None, cards: bool = True) -> Json:
    space = "/".join(question.place.split("/")[:2])
    message = {
        "name": question.name + "-bot",
        "space": {"name": space},
        "thread": {"name": thread or question.place},
        "text": text,
        "createTime": question.created.replace(".0", ".1"),
    }
    return {**message, "cardsV2": [SOURCES]} if cards else message


def turns(question: Asked, answer: str) -> list[Json]:
    user = {"role": "user", "text": question.text, "question_id": question.name}
    return [
        user,
        {**user, "role": "assistant", "text": answer, "search_query": question.conversation.topic.key},
    ]


def final(text: str, kind: str = "answer", *more: str, again: int = 0) -> Json:
    recorded = {"kind": kind, "text": text, "more": list(more), "plain": text, "again": again}
    return {"final": {**recorded, "search_query": ""}}


def case(question: Asked, *, answered: bool) -> Json:
    return {
        "question_id": question.name,
        "reference": "TW-0A1B2C3D",
        "told": True,
        "answered_at": question.created if answered else None,
    }


def healthy_world() -> Outside:
    """Four answers (one in a direct message, one after a replay), a fallback and an apology."""
    kinds = {UNKNOWN.name: "fallback", FAILED.name: "apology"}
    remembered = [each for each in ALL if each.name not in kinds]
    places = dict.fromkeys(question.place for question in remembered)
    return Outside(
        messages=[
            said(
                question,
                SAID[question.name],
                thread=f"{DM}/threads/of-the-bot" if question is DIRECTLY else None,
                cards=question.name not in kinds,
            )
            for question in ALL
        ],
        documents={
            TURNS: {
                document_of(place): {
                    "turns": [t for q in remembered if q.place == place for t in turns(q, SAID[q.name])],
                    "pending": [],
                }
                for place in places
            },
            RECORDS: {
                document_of(question.name): {
                    "question_id": question.name,
                    **final(SAID[question.name], kinds.get(question.name, "answer")),
                }
                for question in ALL
            },
            CASES: {
                document_of(FAILED.name): case(FAILED, answered=False),
                document_of(REPLAYED.name): case(REPLAYED, answered=True),
            },
        },
        letters=Counter([FAILED.name, REPLAYED.name]),
    )


def put_record(outside: Outside, asked: Asked, record: Json) -> None:
    outside.documents[RECORDS][document_of(asked.name)] = {"question_id": asked.name, **record}


def thread_turns(outside: Outside, place: str = THREAD) -> list[Json]:
    held = outside.documents[TURNS].setdefault(document_of(place), {"turns": []})
    found: list[Json] = held["turns"]
    return found
