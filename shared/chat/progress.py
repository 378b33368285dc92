"""Progress in a question's message: only under a lease, tried once, and given up quietly."""

from collections.abc import Mapping

from shared.chat.cards import progress
from shared.chat.message import Chat, Content
from shared.memory.records import Records
from shared.messages.envelope import Envelope, Question
from shared.messages.step import Note
from shared.runtime.deadline import Deadline

#: Seconds that showing progress may take in all, so that a step is never kept from its end.
WAIT_FOR_PROGRESS = 8.0
#: Seconds that a lease must still hold to be worth beginning: it may have taken long to get.
LEAST_LEASE = 2.0


class Progress:
    """Writes progress into the messages of questions."""

    def __init__(self, chat: Chat, records: Records) -> None:
        self._chat = chat
        self._records = records

    def show(
        self, question: Question, content: Content, deadline: Deadline, *, answer_number: int = 0
    ) -> None:
        """Replace what the message shows, unless a final message is noted. Raises what went wrong.

        `answer_number` is the answer that is under way (0 = first).
        """
        briefly = deadline.within(WAIT_FOR_PROGRESS)
        lease = self._records.lease(question.id, briefly, answer_number=answer_number)
        if lease is None or lease.seconds < LEAST_LEASE:
            return
        with self._records.writing(question.id, lease, briefly) as until:
            self._chat.update_progress(question, content, until)

    def say(
        self, envelope: Envelope, stage: str, note: Note, times: Mapping[str, float], deadline: Deadline
    ) -> None:
        """Show the stage that is under way, with a note. Raises what went wrong."""
        question = envelope.question
        card = progress(question.language, stage, envelope.search_query, note, times)
        self.show(question, card, deadline, answer_number=envelope.answer_number)
