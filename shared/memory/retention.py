"""How long each kind of document is kept in Firestore, and why.

`HISTORY_HOURS` decides how long conversations and questions' records are kept. The audit never expires.
"""

from datetime import timedelta

#: As long as Pub/Sub can keep a message, so that a dead letter can be replayed until then.
DEAD_LETTERS = timedelta(days=31)
#: As long as the dead letter that a failure explains.
FAILURES = DEAD_LETTERS
#: As long as a question can exist anywhere, for example in the operators' backup of the dead letters.
FORGOTTEN = DEAD_LETTERS
#: A quarter of a year, which is long enough to see trends.
FEEDBACK = timedelta(days=90)
#: A slot is needed only until its second has passed, and an asker's count only for a minute.
SLOTS = ASKERS = timedelta(hours=1)


def by_history(hours: float) -> timedelta:
    """How long a conversation and a question's record are kept, by `HISTORY_HOURS`.

    A button below an answer works as long as the question's record is kept.
    """
    return timedelta(hours=hours)
