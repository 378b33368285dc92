"""How long each kind of document is kept in Firestore, and why.

Conversations and questions' records have no fixed period: `HISTORY_HOURS` decides about both. The audit never
expires.
"""

from datetime import timedelta

#: As long as Pub/Sub can keep a message: until then a dead letter can be replayed.
DEAD_LETTERS = timedelta(days=31)
#: A failure explains a dead letter.
FAILURES = DEAD_LETTERS
#: As long as a question can wait anywhere, such as in the operators' copy of the dead letters.
FORGOTTEN = DEAD_LETTERS
#: One quarter of a year: long enough to see what changed.
FEEDBACK = timedelta(days=90)
#: A slot is of no use once its second has passed, and an asker's count once its minute has.
SLOTS = ASKERS = timedelta(hours=1)


def by_history(hours: float) -> timedelta:
    """How long a conversation and a question's record are kept, where people are remembered for `hours`.

    A button below an answer works as long as the question's record is kept.
    """
    return timedelta(hours=hours)
