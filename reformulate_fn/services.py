"""The real services of `reformulate_fn`."""

from reformulate_fn.reformulate import Services
from reformulate_fn.rewrite import Rewriter
from reformulate_fn.settings import Settings
from shared.chat.display import Display
from shared.chat.message import open_chat
from shared.memory.failures import Failures
from shared.memory.records import Records
from shared.runtime import clients
from shared.runtime.outbox import Outbox


def open_services(settings: Settings) -> Services:
    """Create the clients. Called once, on the first message."""
    project = settings.google_cloud_project
    firestore = clients.firestore(project, settings.firestore_database)
    chat = open_chat(clients.chat(settings.chat_endpoint), firestore, settings.chat_writes_per_second)
    return Services(
        outbox=Outbox(clients.publisher(), project),
        failures=Failures(firestore),
        display=Display(chat, Records(firestore, settings.history_hours)),
        rewriter=Rewriter(clients.gemini(), settings.rewrite_model, settings.utc_offset_hours),
    )
