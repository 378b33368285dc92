"""Checks that nothing is left of a forgotten conversation, except the fact that it was forgotten."""

import re
from collections.abc import Iterator
from datetime import datetime

from chaos.asked import Asked, Done, Forgot
from chaos.outside import Outside
from chaos.script import TOPICS
from chaos.verdict import Kind, Violation
from chaos.watch import place_of
from chaos.world import (
    FORGOT,
    REFERENCE,
    TOMBSTONES,
    WITHOUT_WORDS,
    Json,
    document_of,
    is_progress,
    shows_sources,
)

#: Every answer contains this, and no confirmation of `/forget` does.
KEYS = tuple(topic.key.lower() for topics in TOPICS.values() for topic in topics)

_NAME = re.compile(r"spaces/[\w-]+/messages/[\w.-]+")


def forgotten(asked: list[Asked], outside: Outside, done: Done) -> tuple[set[str], list[Violation]]:
    """The names of the questions to forget, and what is still left of them.

    Questions after the order to forget do not count.
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
        if forgot.name not in outside.letters:  # the rest is deleted when its dead letter is replayed
            violations += _kept(questions, named)
        violations += _said(forgot, asked, outside)
    return names, violations


def _named(outside: Outside) -> dict[str, set[str]]:
    """All messages that the documents of a collection name, in fields or as document ids."""
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
    """Progress that is still shown, and messages with words of the conversation after it was forgotten."""
    here = [message for message in outside.messages if place_of(message) == forgot.place]
    since = [
        _time(each["createTime"])
        for each in here
        if each["createTime"] > forgot.created and each.get("text") in FORGOT
    ]
    later = [question.created for question in asked if question.place == forgot.place]
    until = min((created for created in later if created > forgot.created), default="~")
    for message in here:
        # A message that was created later may answer a later question. The other checks look at those.
        if message["createTime"] > until:
            continue
        if is_progress(message):
            yield Violation(Kind.NO_END, forgot.name, f"{message['name']} was forgotten and shows progress")
        elif since and not _wordless(message) and _written(message) > min(since):
            yield Violation(
                Kind.FORGOTTEN_SAID, forgot.name, f"{message['name']}: {message.get('text')!r:.60}"
            )


def _wordless(message: Json) -> bool:
    """Whether a message contains nothing of the question."""
    text = str(message.get("text", "")).lower()
    told = any(key in text for key in KEYS) or REFERENCE.search(text) is not None
    return bool(text) and not (told or is_progress(message) or shows_sources(message))


def _written(message: Json) -> datetime:
    """When a message was last written."""
    return _time(message.get("lastUpdateTime") or message["createTime"])


def _time(value: str) -> datetime:
    return datetime.fromisoformat(value)
