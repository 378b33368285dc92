"""The real services of `ingest_fn`."""

from ingest_fn.auth import Verifier
from ingest_fn.forget import Forgetting
from ingest_fn.ingest import Services
from ingest_fn.openings import Openings
from ingest_fn.pace import Pace
from ingest_fn.register import Register
from ingest_fn.settings import Settings
from shared.chat.display import Display
from shared.chat.message import open_chat
from shared.memory.conversations import Conversations
from shared.memory.failures import Failures
from shared.memory.feedback import Feedback
from shared.memory.forgotten import Forgotten
from shared.memory.records import Records
from shared.runtime import clients
from shared.runtime.outbox import Outbox


def open_services(settings: Settings) -> Services:
    """Create the clients. Called once, on the first request."""
    project = settings.google_cloud_project
    firestore = clients.firestore(project, settings.firestore_database)
    chat = open_chat(clients.chat(settings.chat_endpoint), firestore, settings.chat_writes_per_second)
    records = Records(firestore, settings.history_hours)
    conversations = Conversations(firestore, settings.history_hours)
    openings = Openings(conversations, chat)
    pace = Pace(firestore, settings.questions_per_minute)
    return Services(
        verifier=Verifier(
            settings.trusted,
            certs_url=settings.chat_certs_url,
            chat_certs_url=settings.chat_own_certs_url,
        ),
        outbox=Outbox(clients.publisher(), project),
        chat=chat,
        conversations=conversations,
        openings=openings,
        failures=Failures(firestore),
        pace=pace,
        forgetting=Forgetting(firestore, openings),
        forgotten=Forgotten(firestore),
        records=records,
        register=Register(firestore, pace, conversations, records),
        display=Display(chat, records),
        feedback=Feedback(firestore),
        settings=settings,
    )
