"""The actions of people: write, give commands, add and remove the bot. Each sends its events to the bot."""

import asyncio
import datetime
import json
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from local.stand_ins.chat.connection import Sender
from local.stand_ins.chat.directory import ChatSpace, Person, person_in, space_named
from local.stand_ins.chat.events import Unanswered, addressed_to_bot, attached, plain
from local.stand_ins.chat.interactions import COMMANDS, Interaction, slash_command
from local.stand_ins.chat.messages import CreateOptions, Messages, ReplyOption
from local.stand_ins.chat.store import Changes, MessageStore
from local.stand_ins.chat.validation import message_from_wire
from local.stand_ins.faults import Faults
from local.stand_ins.http_gate import RestError, invalid

Json = dict[str, Any]


@dataclass
class People:
    """Acts for people. All methods raise RestError if Chat would refuse the action or does not offer it."""

    store: MessageStore
    changes: Changes
    messages: Messages
    sender: Sender
    faults: Faults
    under_way: set[asyncio.Task[Any]] = field(default_factory=set)

    def write(
        self,
        space: str,
        text: str,
        *,
        thread: str | None = None,
        mention: bool = True,
        locale: str = "en",
        person: str = "users/1001",
        file: tuple[str, str] | None = None,
    ) -> Json:
        """Write a message, in `thread` or a new one; `file` is a name and a content type.

        Returns Message JSON. In a space or a group, the bot gets it only if it is mentioned.
        """
        place, writer = there(space, person)
        fields = addressed_to_bot(text) if mention and not place.is_dm else plain(text)
        fields |= attached(*file) if file else {}
        if not (mention or place.is_dm):
            return self.messages.create_by_person(space, fields, writer.user(), thread)
        self.messages.check_bot_in(space)
        message = self.messages.create_by_person(space, fields, writer.user(), thread)
        self._tell(Interaction("message", writer, place, locale, message["createTime"], message))
        return message

    def command(
        self, space: str, number: int, words: str, *, person: str, locale: str, thread: str | None
    ) -> Json | None:
        """Give a command. A slash command is a message, and returned as one."""
        place, writer = there(space, person)
        self.messages.check_bot_in(space)
        if number not in COMMANDS:
            raise invalid(f"There is no command {number}.")
        command, message = COMMANDS[number], None
        if command.type == "SLASH_COMMAND":
            fields = slash_command(command, words)
            message = self.messages.create_by_person(space, fields, writer.user(), thread)
        self._tell(
            Interaction("command", writer, place, locale, now(), message, thread=thread, command=command)
        )
        return message

    def add_bot(self, space: str, text: str | None, *, person: str, locale: str) -> Json | None:
        """Add the bot to a space, by a message that mentions it if `text` is given."""
        place, adder = there(space, person)
        if space not in self.store.without_bot():
            raise invalid(f"The bot is in {space} already.")
        message = None
        if text is not None:
            fields = plain(text) if place.is_dm else addressed_to_bot(text)
            message = self.messages.create_by_person(space, fields, adder.user(), None)
        self.store.put_bot(space, inside=True)
        self.changes.notify()
        self._tell(Interaction("added", adder, place, locale, now(), message))
        return message

    def remove_bot(self, space: str, *, person: str, locale: str) -> None:
        """Remove the bot from a space. It gets an event, and can do nothing there from then on."""
        place, remover = there(space, person)
        self.messages.check_bot_in(space)
        self.store.put_bot(space, inside=False)
        self.changes.notify()
        self._tell(Interaction("removed", remover, place, locale, now()))

    async def answered(self, done: Interaction) -> Json:
        """Tell the bot about an action and return its answer, in the format of the event.

        Raises RestError if it does not answer.
        """
        events = self.sender.events(done)
        if again := self.faults.drawn("chat-duplicate"):
            self._soon(events, None, again.seconds)
        try:
            answers: list[Json] = [await self._kept(self.sender.ask(event)) for event in events]
            self._answered_by_bot()
        except Unanswered as error:
            raise invalid(f"The app is unable to process your request: {error}.") from error
        return answers[-1]

    def post(self, answer: Json, about: Json) -> None:
        """Post the message in the bot's answer to an event. Raises RestError if it is not a valid Message."""
        draft = message_from_wire(json.dumps(answer).encode())
        draft.ClearField("thread")
        option: int = ReplyOption.MESSAGE_REPLY_OPTION_UNSPECIFIED
        if about.get("threadReply"):
            draft.thread.name = about["thread"]["name"]
            option = ReplyOption.REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD
        self.messages.create(about["space"]["name"], draft, CreateOptions(reply_option=option))

    def _tell(self, done: Interaction) -> None:
        if self.sender.bot is None:
            raise RuntimeError("Chat does not know the bot yet: call start() first")
        events = self.sender.events(done)
        self._soon(events, done.message, 0.0)
        if again := self.faults.drawn("chat-duplicate"):
            self._soon(events, done.message, again.seconds)

    def _answered_by_bot(self) -> None:
        if self.sender.bot is not None:
            self.faults.answered(self.sender.bot.url)

    def _soon(self, events: list[Json], about: Json | None, wait: float) -> None:
        self._kept(self._send(events, about, wait))

    def _kept(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self.under_way.add(task)
        task.add_done_callback(self.under_way.discard)
        return task

    async def _send(self, events: list[Json], about: Json | None, wait: float) -> None:
        await asyncio.sleep(wait)
        try:
            for event in events:
                answer = await self.sender.send(event)
                self._answered_by_bot()
                if answer and about is not None:
                    self.post(answer, about)
        except (Unanswered, RestError):
            if about is not None:
                self.store.mark_unanswered(about["name"])
                self.changes.notify()


def there(space: str, person: str) -> tuple[ChatSpace, Person]:
    """The space and the person. Raises RestError 404."""
    place = space_named(space)
    return place, person_in(place, person)


def now() -> str:
    """The current time in the format of events."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
