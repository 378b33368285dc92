"""The pipeline as a table: which function takes what, and where it passes it on."""

from dataclasses import dataclass

DEAD_LETTERS = "dead-letters"
#: Where Chat publishes its events when it is connected by Pub/Sub; operators replay to it either way.
EVENTS = "chat-events"
#: Pub/Sub's least; a permanent failure does not wait for it, the function parks the message itself.
DELIVERY_ATTEMPTS = 5


@dataclass(frozen=True)
class Step:
    """One function. `takes` and `gives` are topics; `ack_deadline` (seconds) exceeds the step's deadline."""

    name: str
    takes: str | None
    gives: str | None
    ack_deadline: int = 60
    folder: str = ""
    entry_point: str = "main"

    @property
    def source(self) -> str:
        """Its `main.py`, from the root of the repository."""
        return f"{self.folder or f'{self.name}_fn'}/main.py"

    @property
    def subscription(self) -> str:
        """The name of its push subscription."""
        return f"{self.takes}-push"


STEPS = (
    Step("ingest", takes=EVENTS, gives="questions", ack_deadline=45),
    Step("reformulate", takes="questions", gives="queries"),
    Step("retrieve", takes="queries", gives="findings", ack_deadline=65),
    Step("answer", takes="findings", gives=None, ack_deadline=150),
)
#: Takes what the steps could not go on with; a second entry point of `answer_fn`.
TELL = Step("tell", takes=DEAD_LETTERS, gives=None, ack_deadline=70, folder="answer_fn", entry_point="tell")
FUNCTIONS = (*STEPS, TELL)
TOPICS = (*(step.takes for step in STEPS if step.takes), DEAD_LETTERS)
#: The operators' own copy of every dead letter.
BACKUP = "dead-letters-backup"
