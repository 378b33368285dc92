"""Progress in a question's message: only under a lease, tried once, and given up quietly."""

from shared.chat import Chat, Content
from shared.deadline import Deadline
from shared.envelope import Question
from shared.records import Records

#: Seconds that showing progress may take in all, so that a step is never kept from its end.
WAIT_FOR_PROGRESS = 8.0


def show(question: Question, content: Content, records: Records, chat: Chat, deadline: Deadline) -> None:
    """Replace what the message shows, unless a final message is noted. Raises what went wrong."""
    briefly = deadline.within(WAIT_FOR_PROGRESS)
    if not records.lease(question.id, briefly):
        return
    try:
        chat.update_progress(question, content, briefly)
    finally:
        records.release(question.id, briefly)
