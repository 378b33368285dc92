"""Finds the question and answer that a thread of a direct message began with.

In a direct message each message has a thread of its own, and so has each answer. When a person replies in
such a thread, the reply has the memory of the thread. The question and answer that opened the thread count as
its first turns. They are stored in the memory of the direct message.
"""

from dataclasses import dataclass

from shared.chat.message import Chat
from shared.chat.places import Place
from shared.memory.conversations import Conversations
from shared.memory.turns import history_of, quoted
from shared.messages.envelope import Question, Turn
from shared.messages.names import is_thread_of, opening_message
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, in_one_line

#: Seconds for finding the opening of a thread. The question is answered without it if that takes longer.
WAIT_FOR_OPENING = 2.0


@dataclass(frozen=True)
class Openings:
    """Finds the openings of threads in one Firestore database and in Chat."""

    conversations: Conversations
    chat: Chat

    def before(
        self,
        place: Place,
        question: Question,
        history: tuple[Turn, ...],
        deadline: Deadline,
        of_space: tuple[Turn, ...] | None = None,
    ) -> tuple[Turn, ...]:
        """The whole history of a question: `history`, the opening of its thread in front if that can be read,
        and at the end the message that it quotes.

        `of_space` is the memory of the space, if it was read before (None: it was not).
        """
        try:
            opening = self.of(place, question.conversation, deadline.within(WAIT_FOR_OPENING), of_space)
        except Exception as error:
            logs.warning("The opening of the thread cannot be read", error=in_one_line(error))
            opening = ()
        return history_of([*opening, *history, *quoted(question)])

    def of(
        self, place: Place, name: str, deadline: Deadline, of_space: tuple[Turn, ...] | None = None
    ) -> tuple[Turn, ...]:
        """The opening of the conversation `name`: a question and its answer, or nothing if it is unknown.

        Raises Transient or Permanent.
        """
        if not place.flat or not is_thread_of(place.space, name):
            return ()
        known = self.conversations.known(place.space, deadline) if of_space is None else of_space
        questions = {turn.question_id for turn in known}
        root = opening_message(name)
        opened = root if root in questions else self._answered(root, questions, deadline)
        return tuple(turn for turn in known if turn.question_id == opened)

    def _answered(self, root: str, questions: set[str], deadline: Deadline) -> str | None:
        """The id of the question that the message `root` answers; None if `root` is no answer of the bot."""
        if not questions:
            return None
        try:
            return self.chat.question_of(root, questions, deadline)
        except Permanent:  # the bot can read its own messages, so this is not one of them
            return None
