"""A thread in a direct message begins with the message that opened it, a question or its answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from shared.chat.events import understand
from shared.chat.message import Content, message_id
from shared.messages.envelope import Envelope, Question
from shared.runtime.deadline import Deadline
from tests.support import remembering
from tests.support.golden_events import as_bytes, golden, with_message
from tests.support.ingest_side import BENS_DM, Ingest, anew

pytest_plugins = ["tests.support.event_fixtures"]


Json = dict[str, Any]
#: What a person may reply to: their own question, or what the bot has said to it.
REPLIED_TO = ("the question", "the answer")


@pytest.fixture(params=REPLIED_TO)
def replied_to(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@dataclass
class Direct:
    """A direct message with the bot: what is asked there, and replied in a thread of it."""

    ingest: Ingest
    shape: str

    def ask(self, words: str, *, answer: str | None = None) -> Question:
        """Ask at the top level, and have it answered, or not yet."""
        event = with_message(anew(golden(f"{self.shape}-message-in-dm")), text=words, argumentText=words)
        assert self.ingest.over_https(event) == ({}, 200)
        question: Question = understand(as_bytes(event)).question  # type: ignore[union-attr]
        if answer is not None:
            self.save(question, answer)
        return question

    def save(self, question: Question, answer: str) -> None:
        """Post an answer, and remember it."""
        services = self.ingest.services
        services.chat.put_final(question, Content(answer), Deadline(10))
        remembering.answer(services.conversations._client, question, answer)

    def thread(self, question: Question, replied_to: str) -> str:
        """The thread that a reply to the question, or to the bot's message, is in."""
        if replied_to == "the question":
            return question.id.rpartition(".")[0].replace("/messages/", "/threads/")
        said = self.ingest.read(f"{BENS_DM}/messages/{message_id(question.id)}")
        assert said is not None
        return str(said["thread"]["name"])

    def reply(self, thread: str, words: str) -> None:
        """Write in a thread."""
        event = anew(golden(f"{self.shape}-message-in-thread-of-dm"))
        own = message_name(event).rpartition(".")[2]
        name = f"{thread.replace('/threads/', '/messages/')}.{own}"
        changed = with_message(
            event, text=words, argumentText=words, formattedText=words, name=name, thread={"name": thread}
        )
        assert self.ingest.over_https(changed) == ({}, 200)

    def forget(self, thread: str) -> Json:
        """Tell the bot to forget a thread; returns the event."""
        event = with_message(
            anew(golden(f"{self.shape}-slash-forget-yes")), thread={"name": thread}, threadReply=True
        )
        assert self.ingest.over_https(event) == ({}, 200)
        return event

    def remembered(self) -> set[str]:
        """The words that are remembered of the direct message."""
        return {turn.text for turn in self.ingest.services.conversations.known(BENS_DM, Deadline(10))}


def message_name(event: Json) -> str:
    return str(understand(as_bytes(event)).question.id)  # type: ignore[union-attr]


@pytest.fixture
def direct(ingest: Ingest, shape: str) -> Direct:
    return Direct(ingest, shape)


def history(inbox: Any, question: str) -> list[str]:
    """What went on its way with a question as what was said before."""
    for message in inbox.messages(1):
        envelope = Envelope.from_bytes(message.data)
        if envelope.question.text == question:
            return [turn.text for turn in envelope.history]
    return history(inbox, question)


def test_a_thread_in_a_direct_message_begins_with_what_opened_it(
    direct: Direct, replied_to: str, inbox: Callable[[str], Any]
) -> None:
    before = direct.ask("How do I print?", answer="With the printer.")
    asked = direct.ask("How do I set up the VPN?", answer="Like this.")
    thread = direct.thread(asked, replied_to)
    questions = inbox("questions")

    direct.reply(thread, "And on a Mac?")
    direct.reply(thread, "And on a phone?")

    began = ["How do I set up the VPN?", "Like this."]
    assert history(questions, "And on a Mac?") == began
    assert history(questions, "And on a phone?") == [*began, "And on a Mac?"]
    assert before.text in direct.remembered()


def test_an_answer_that_comes_after_the_reply_is_known_to_the_next_one(
    direct: Direct, replied_to: str, inbox: Callable[[str], Any]
) -> None:
    asked = direct.ask("How do I set up the VPN?")
    thread = direct.thread(asked, replied_to)
    questions = inbox("questions")

    direct.reply(thread, "I have a Mac.")
    direct.save(asked, "Like this.")
    direct.reply(thread, "Does it work now?")

    assert history(questions, "I have a Mac.") == ["How do I set up the VPN?"]
    assert history(questions, "Does it work now?") == [
        "How do I set up the VPN?",
        "Like this.",
        "I have a Mac.",
    ]


def test_a_thread_that_began_with_something_else_has_no_history(
    direct: Direct, inbox: Callable[[str], Any]
) -> None:
    direct.ask("How do I print?", answer="With the printer.")
    questions = inbox("questions")

    direct.reply(f"{BENS_DM}/threads/longAgo{direct.shape}", "And on a Mac?")

    assert history(questions, "And on a Mac?") == []


def test_forgetting_a_thread_of_a_direct_message_forgets_what_opened_it_and_no_more(
    direct: Direct, replied_to: str, inbox: Callable[[str], Any]
) -> None:
    kept = direct.ask(f"How do I print in {direct.shape} after {replied_to}?", answer="With the printer.")
    asked = direct.ask(f"Who is on call in {direct.shape} after {replied_to}?", answer="Ben, I think.")
    waiting = direct.ask(f"What is a VPN in {direct.shape} after {replied_to}?")
    threads = [direct.thread(each, replied_to) for each in (asked, waiting)]
    direct.reply(threads[0], "Are you sure?")

    for thread in threads:
        event = direct.forget(thread)
        assert direct.ingest.over_https(event) == ({}, 200)  # sent again
    direct.save(waiting, "It was under way just then.")

    remembered = direct.remembered()
    assert {kept.text, "With the printer."} <= remembered
    assert not remembered & {asked.text, waiting.text, "It was under way just then."}
    questions = inbox("questions")
    direct.reply(threads[0], "Who was it?")
    assert history(questions, "Who was it?") == []
