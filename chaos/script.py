"""The questions: conversations in spaces and direct messages of the sample company, drawn from a seed."""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

Locale = Literal["en", "ja"]

SPACES = ("spaces/AAAAhelpdesk", "spaces/AAAAsalestyo")
PEOPLE = ("users/1001", "users/1002")
#: The direct messages, with the person each belongs to.
DIRECT = {"spaces/dmAikoAAAAE": "users/1001", "spaces/dmBenAAAAAE": "users/1002"}
#: A direct message is one conversation. With more questions, its memory would correctly drop the oldest.
MOST_IN_DIRECT = 80
#: What a person does after the answer (or at once, if they do not wait), and how often.
RATE, AGAIN, DELETE, FORGET = "rate", "again", "delete", "forget"
DEEDS = {RATE: 0.08, AGAIN: 0.15, DELETE: 0.05, FORGET: 0.04}
#: Questions that exceed a limit: too long, or too many within a minute.
TOO_LONG, TOO_MANY = EXCESSES = ("too-long", "too-many")
#: How many questions in a space are longer than the bot accepts.
ENDLESS, CHARACTERS = 0.01, 2500
#: How many conversations have a person who writes on without waiting for the answer.
HASTY = 0.15


@dataclass(frozen=True)
class Topic:
    """What a conversation is about. `key` is in its first question, and in no other topic's."""

    key: str
    locale: Locale
    first: str


#: Each space has its own topics, and so do direct messages in each language. A key in any other place is an
#: error.
TOPICS = {
    SPACES[0]: (
        Topic("VPN", "en", "How do I configure the VPN?"),
        Topic("password", "en", "How do I reset my password?"),
        Topic("meeting room", "en", "How do I book a meeting room?"),
        Topic("複合機", "ja", "複合機で印刷する方法を教えてください"),
        Topic("会議室", "ja", "会議室の予約方法を教えて"),
    ),
    SPACES[1]: (
        Topic("mailbox", "en", "How do I request a shared mailbox?"),
        Topic("Wi-Fi", "en", "How do guests use the Wi-Fi in the office?"),
        Topic("monitor", "en", "How do I order a monitor for working at home?"),
        Topic("電子署名", "ja", "電子署名の申請方法を教えてください"),
        Topic("認証アプリ", "ja", "認証アプリの登録方法を教えて"),
    ),
    "direct": (
        Topic("roaming", "en", "How do I switch on roaming for a business trip?"),
        Topic("年末調整", "ja", "年末調整の提出方法を教えてください"),
    ),
}
FOLLOW_UPS: dict[Locale, tuple[str, ...]] = {
    "en": ("Can you explain in more detail?", "How long does it take?", "What do I need for that?"),
    "ja": ("もっと詳しく教えてください", "それはどのくらいかかりますか", "その前に何が必要ですか"),
}


@dataclass(frozen=True)
class Conversation:
    """The questions of one person, in order; in a direct message each is a top-level message.

    `hasty`: the person does not wait for the answers. `deeds` are what they do after each question, "" for
    nothing.
    """

    space: str
    person: str
    topic: Topic
    questions: tuple[str, ...]
    hasty: bool
    deeds: tuple[str, ...] = ()

    @property
    def direct(self) -> bool:
        """Whether this is a direct message."""
        return self.space in DIRECT

    @property
    def foreign(self) -> tuple[str, ...]:
        """The keys of all other topics."""
        return tuple(topic.key for topics in TOPICS.values() for topic in topics if topic != self.topic)


def written(questions: int, threads: int, seed: int, without: Collection[str] = ()) -> list[Conversation]:
    """Conversations with `questions` questions in all, `threads` of them in spaces, in the order they begin.

    Nobody does the deeds in `without`, or asks too long a question where that is in it. The same for the same
    arguments.
    """
    rng = random.Random(seed)
    in_direct = min(MOST_IN_DIRECT, questions // 8)
    threads = max(1, min(threads, questions - in_direct))
    owners = zip(DIRECT.items(), TOPICS["direct"], _split(in_direct, len(DIRECT)), strict=True)
    # Direct messages first: each is one long conversation.
    return [
        *(
            _conversation(space, person, topic, count, rng, without)
            for (space, person), topic, count in owners
            if count
        ),
        *_threads(_split(questions - in_direct, threads), rng, without),
    ]


def _threads(sizes: list[int], rng: random.Random, without: Collection[str]) -> Iterator[Conversation]:
    for size in sizes:
        space = rng.choice(SPACES)
        yield _conversation(space, rng.choice(PEOPLE), rng.choice(TOPICS[space]), size, rng, without)


def _conversation(
    space: str, person: str, topic: Topic, size: int, rng: random.Random, without: Collection[str]
) -> Conversation:
    questions = [topic.first, *(rng.choice(FOLLOW_UPS[topic.locale]) for _ in range(size - 1))]
    hasty = rng.random() < HASTY
    # In a direct message, forgetting deletes a whole conversation that is much longer than the others.
    offered = [deed for deed in DEEDS if deed != FORGET or space not in DIRECT]
    nothing = 1 - sum(DEEDS[deed] for deed in offered)
    deeds = rng.choices([*offered, ""], [*(DEEDS[deed] for deed in offered), nothing], k=size)
    too_long = space not in DIRECT and rng.random() < ENDLESS * size
    if too_long and TOO_LONG not in without:
        questions[-1] = f"{questions[-1]} ".ljust(CHARACTERS, "?")
    return Conversation(
        space,
        person,
        topic,
        tuple(questions),
        hasty,
        tuple("" if deed in without else deed for deed in deeds),
    )


def _split(total: int, parts: int) -> list[int]:
    """`total` in `parts` as equal as possible."""
    return [total // parts + (part < total % parts) for part in range(parts)]
