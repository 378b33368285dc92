"""How a thread began that somebody replies in, where all of the space is one conversation.

In a direct message each message has a thread of its own, and so has each answer. When a person replies in
such a thread, its memory is the thread's, and what opened it counts as its start: a question, and what it was
answered. Both are in the memory of the direct message, where they are looked for.
"""

from dataclasses import dataclass

from shared.chat.message import Chat
from shared.chat.places import Place
from shared.memory.conversations import Conversations
from shared.memory.turns import history_of
from shared.messages.envelope import Turn
from shared.messages.names import is_thread_of, opening_message
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, in_one_line

#: Seconds for finding what a thread of a direct message began with; without it the question is answered, too.
WAIT_FOR_OPENING = 2.0


@dataclass(frozen=True)
class Openings:
    """Finds the question that a thread began with, in one Firestore database and in Chat."""

    conversations: Conversations
    chat: Chat

    def before(
        self,
        place: Place,
        conversation: str,
        history: tuple[Turn, ...],
        deadline: Deadline,
        of_space: tuple[Turn, ...] | None = None,
    ) -> tuple[Turn, ...]:
        """A conversation's history with what its thread began with; without, where that cannot be read.

        `of_space` is what is remembered of the space, where that is known already.
        """
        try:
            opening = self.of(place, conversation, deadline.within(WAIT_FOR_OPENING), of_space)
        except Exception as error:
            logs.warning("What the thread began with cannot be read", error=in_one_line(error))
            return history
        return history_of([*opening, *history])

    def of(
        self, place: Place, name: str, deadline: Deadline, of_space: tuple[Turn, ...] | None = None
    ) -> tuple[Turn, ...]:
        """What opened the conversation `name`: a question and its answer, or nothing where it is not known.

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
        """The question that `root` is our answer to, if it is one."""
        if not questions:
            return None
        try:
            return self.chat.question_of(root, questions, deadline)
        except Permanent:  # a message that we may not see is none of ours
            return None
