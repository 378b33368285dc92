"""Of a conversation that a person told the bot to forget, nothing is left but that it was."""

import re
from collections.abc import Iterator
from datetime import datetime

from chaos.asked import Asked, Done, Forgot
from chaos.outside import Outside
from chaos.script import TOPICS
from chaos.verdict import Kind, Violation
from chaos.watch import place_of
from chaos.world import (
    REFERENCE,
    TOMBSTONES,
    WITHOUT_WORDS,
    Json,
    document_of,
    is_progress,
    shows_sources,
)

#: In every answer, and in no sentence that only says that something is forgotten.
KEYS = tuple(topic.key.lower() for topics in TOPICS.values() for topic in topics)

_NAME = re.compile(r"spaces/[\w-]+/messages/[\w.-]+")


def forgotten(asked: list[Asked], outside: Outside, done: Done) -> tuple[set[str], list[Violation]]:
    """The names of the questions that are to be forgotten, and what is left of them all the same.

    What was asked after a conversation was to be forgotten is none of them.
    """
    tombstones = {str(each.get("name")) for each in outside.documents.get(TOMBSTONES, {}).values()}
    names: set[str] = set()
    violations: list[Violation] = []
    named = _named(outside) if done.forgot else {}
    for forgot in done.forgot:
        if forgot.place not in tombstones:
            if forgot.name not in outside.not_taken and forgot.name not in outside.letters:
                violations.append(Violation(Kind.NOT_FORGOTTEN, forgot.name, f"in {forgot.place}"))
            continue
        questions = [q for q in asked if q.place == forgot.place and q.created < forgot.created]
        names |= {question.name for question in questions}
        violations += _kept(questions, named)
        violations += _said(forgot, asked, outside)
    return names, violations


def _named(outside: Outside) -> dict[str, set[str]]:
    """All messages that a collection names anywhere, by their names or as ids of documents."""
    return {
        collection: {name for each in documents.values() for name in _NAME.findall(str(each))}
        | set(documents)
        for collection, documents in outside.documents.items()
        if collection not in WITHOUT_WORDS
    }


def _kept(questions: list[Asked], named: dict[str, set[str]]) -> Iterator[Violation]:
    for question in questions:
        for collection, names in named.items():
            if not names.isdisjoint({question.name, document_of(question.name)}):
                yield Violation(Kind.FORGOTTEN_KEPT, question.name, f"in {collection}")


def _said(forgot: Forgot, asked: list[Asked], outside: Outside) -> Iterator[Violation]:
    """Progress that is left, and words of the conversation that came after the bot said that it forgot."""
    here = [message for message in outside.messages if place_of(message) == forgot.place]
    since = [
        _time(each["createTime"]) for each in here if each["createTime"] > forgot.created and _wordless(each)
    ]
    later = [question.created for question in asked if question.place == forgot.place]
    until = min((created for created in later if created > forgot.created), default="~")
    for message in here:
        # What was created later may be the answer to a later question, which is looked at as any other.
        if message["createTime"] > until:
            continue
        if is_progress(message):
            yield Violation(Kind.NO_END, forgot.name, f"{message['name']} was forgotten and shows progress")
        elif since and not _wordless(message) and _written(message) > min(since):
            yield Violation(
                Kind.FORGOTTEN_SAID, forgot.name, f"{message['name']}: {message.get('text')!r:.60}"
            )


def _wordless(message: Json) -> bool:
    """Whether a message says nothing of what was asked."""
    text = str(message.get("text", "")).lower()
    told = any(key in text for key in KEYS) or REFERENCE.search(text) is not None
    return bool(text) and not (told or is_progress(message) or shows_sources(message))


def _written(message: Json) -> datetime:
    """When a message was last written."""
    return _time(message.get("lastUpdateTime") or message["createTime"])


def _time(value: str) -> datetime:
    return datetime.fromisoformat(value)
