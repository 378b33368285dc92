"""Writes the message of a question. After every write it looks at the question's record.

Chat has no precondition for an update, so a delayed write can cover a later one. So a writer does not try to
find the right moment. After each write it reads the record. If something there ranks higher than what it
wrote, it writes that and looks again. A request is done only after a look that found nothing higher. If the
write or the look fails, the message is delivered again. docs/protocol.md has the rules.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from shared.chat.api import THROTTLED
from shared.chat.cards import progress
from shared.chat.endings import contents_of
from shared.chat.message import Card, Chat, Content, Posted
from shared.language.catalogue import text
from shared.memory.records import Records, Standing
from shared.messages.ending import PROGRESS, Ending, Rank
from shared.messages.envelope import Envelope, Question
from shared.messages.step import Note
from shared.runtime import logs
from shared.runtime.deadline import Deadline
from shared.runtime.errors import Permanent, Transient, in_one_line

#: Seconds for the look before progress and for writing it, so that progress cannot use up a step's deadline.
WAIT_FOR_PROGRESS = 8.0
#: The most looks after one write. Endings cannot change more often than this.
MOST_LOOKS = 10


class Display:
    """Writes progress and endings into the messages of questions."""

    def __init__(self, chat: Chat, records: Records) -> None:
        self._chat = chat
        self._records = records

    def progress(
        self, question: Question, content: Content, deadline: Deadline, *, answer_number: int = 0
    ) -> None:
        """Show progress of an answer (0 = first), unless that answer or a later one has ended.

        Raises Transient if progress may have covered an ending, and this cannot be checked now. Other errors
        are only logged.
        """
        shown: Rank = (answer_number, PROGRESS)
        briefly = deadline.within(WAIT_FOR_PROGRESS)
        try:
            standing = self._records.standing(question, briefly)
        except Exception as error:
            logs.warning("Progress is not shown", error=in_one_line(error))
            return
        if standing.rank is not None and standing.rank > shown:
            self.put_back(question, standing, deadline)
            return
        try:
            if not self._chat.update_progress(question, content, briefly):
                return
        except Exception as error:
            logs.warning("Progress was not shown", error=in_one_line(error))
            if not _may_stand(error):
                return
        self._look(question, shown, deadline)

    def say(
        self, envelope: Envelope, stage: str, note: Note, times: Mapping[str, float], deadline: Deadline
    ) -> None:
        """Show the current stage, with a note. Raises what `progress` raises."""
        question = envelope.question
        card = progress(question.language, stage, envelope.search_query, note, times)
        self.progress(question, card, deadline, answer_number=envelope.answer_number)

    def accessory(
        self, question: Question, ending: Ending, name: str, accessory: list[Card], deadline: Deadline
    ) -> None:
        """Replace the buttons below the message `name`, which shows an ending.

        Raises Transient if the buttons may be below a later ending now, and this cannot be checked. Other
        errors are only logged.
        """
        try:
            self._chat.put_accessory(name, accessory, deadline)
        except Exception as error:
            logs.warning("The buttons were not replaced", error=in_one_line(error))
            if not _may_stand(error):
                return
        self._look(question, ending.rank, deadline)

    def ending(self, question: Question, standing: Standing, deadline: Deadline) -> Posted:
        """Make a question's message show what it must. Idempotent.

        Returns where it was posted first. Raises Permanent or Transient.
        """
        posted = self._post(question, standing, deadline)
        if standing.ending and not standing.forgotten:
            _log_posted(question, standing.ending)
        self._look(question, standing.rank, deadline)
        return posted

    def put_back(self, question: Question, standing: Standing, deadline: Deadline) -> None:
        """Post the ending again if Chat shows something else. This happens if a request was killed between
        its write and its look. A missing message was deleted by a person, and is not replaced.

        If Chat refuses, this is only logged. Raises Transient.
        """
        must = _texts(question, standing)
        try:
            shown = self._chat.shown(question, len(must), deadline)
            # If Chat refused the card, the sources are below the text.
            if all(said is None or said.startswith(part) for said, part in zip(shown, must, strict=True)):
                return
            # Not by `ending`: its log line is when an answer was first there, which alerts watch.
            standing = self._records.standing(question, deadline)
            if standing.rank is None:
                return  # its record has expired or was deleted meanwhile
            logs.error("Chat shows the wrong text; the ending is posted again")
            self._post(question, standing, deadline)
            self._look(question, standing.rank, deadline)
        except Permanent as error:
            logs.error("The ending cannot be posted again", error=in_one_line(error))

    def _look(self, question: Question, shown: Rank | None, deadline: Deadline) -> None:
        for _ in range(MOST_LOOKS):
            late = self._chat.await_late_writes(question, deadline)
            standing = self._records.standing(question, deadline)
            rank = standing.rank
            if rank is None or (shown is not None and rank <= shown and not late):
                return
            logs.info("A covered ending is posted again", late=late)
            self._post(question, standing, deadline)
            shown = rank
        raise Transient("always_outranked", f"looked {MOST_LOOKS} times")

    def _post(self, question: Question, standing: Standing, deadline: Deadline) -> Posted:
        ending = standing.ending
        if standing.forgotten or ending is None:
            return self._chat.put_final(question, Content(_texts(question, standing)[0]), deadline)
        first, *more = contents_of(ending, question)
        logs.info("Ready")  # it may still have to wait for a turn in the space
        return self._chat.put_final(question, first, deadline, more=more, parts=standing.parts)


def _texts(question: Question, standing: Standing) -> list[str]:
    """What the question's messages must say; a fixed sentence without content when it is forgotten."""
    if standing.forgotten or standing.ending is None:
        return [text(question.language, "notice", "forgotten_question")]
    return standing.ending.parts


def _log_posted(question: Question, ending: Ending) -> None:
    answer_seconds = (datetime.now(UTC) - (ending.since or question.asked_at)).total_seconds()
    logs.info(
        "Posted",
        content={"answered": ending.plain},
        kind=ending.kind,
        parts=len(ending.parts),
        sources=len(ending.sources),
        answer_seconds=round(max(0.0, answer_seconds), 3),  # Chat's clock and ours may differ
    )


def _may_stand(error: Exception) -> bool:
    """Whether a failed write may have changed the message. It has not if Chat refused it."""
    return not isinstance(error, Permanent) and getattr(error, "reason", "") != THROTTLED
