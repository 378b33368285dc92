"""The real services of `retrieve_fn`."""

from retrieve_fn.retrieve import Services
from retrieve_fn.search import Corpus
from retrieve_fn.settings import Settings
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
        rag=clients.rag(settings.rag_location, settings.rag_endpoint),
        corpus=Corpus(
            name=settings.rag_corpus,
            top_k=settings.rag_top_k,
            distance_threshold=settings.rag_distance_threshold,
            ranker=settings.rag_ranker,
            links=settings.source_links,
            by_space=settings.space_corpora,
        ),
        kind=settings.search_kind,
        fusion=settings.search_fusion,
        context_tokens=settings.context_tokens,
    )
