"""The real services of `retrieve_fn`."""

from retrieve_fn.retrieve import Corpus, Services
from retrieve_fn.settings import Settings
from shared import clients
from shared.failures import Failures
from shared.outbox import Outbox


def open_services(settings: Settings) -> Services:
    """Make the clients; called once, on the first message."""
    project = settings.google_cloud_project
    return Services(
        outbox=Outbox(clients.publisher(), project),
        failures=Failures(clients.firestore(project, settings.firestore_database)),
        rag=clients.rag(settings.rag_location, settings.rag_endpoint),
        corpus=Corpus(
            name=settings.rag_corpus,
            top_k=settings.rag_top_k,
            distance_threshold=settings.rag_distance_threshold,
            links=settings.source_links,
        ),
    )
