"""The real services of `answer_fn`, and of `tell` in it."""

from answer_fn.answer import Services
from answer_fn.settings import Settings
from answer_fn.tell import Services as TellServices
from shared.chat.display import Display
from shared.chat.message import open_chat
from shared.memory.cases import Cases
from shared.memory.failures import Failures
from shared.memory.records import Records
from shared.runtime import clients
from shared.runtime.outbox import Outbox


def open_services(settings: Settings) -> Services:
    """Create the clients. Called once, on the first message."""
    project = settings.google_cloud_project
    firestore = clients.firestore(project, settings.firestore_database)
    chat = open_chat(clients.chat(settings.chat_endpoint), firestore, settings.chat_writes_per_second)
    records = Records(firestore, settings.history_hours)
    return Services(
        outbox=Outbox(clients.publisher(), project),
        failures=Failures(firestore),
        display=Display(chat, records),
        chat=chat,
        records=records,
        gemini=clients.gemini(),
        model=settings.answer_model,
        hours=settings.history_hours,
        contact=settings.human_contact,
    )


def open_tell_services(settings: Settings) -> TellServices:
    """The same for `tell`, which calls no model and publishes nothing."""
    firestore = clients.firestore(settings.google_cloud_project, settings.firestore_database)
    chat = open_chat(clients.chat(settings.chat_endpoint), firestore, settings.chat_writes_per_second)
    records = Records(firestore, settings.history_hours)
    return TellServices(
        firestore=firestore,
        cases=Cases(firestore),
        failures=Failures(firestore),
        records=records,
        chat=chat,
        display=Display(chat, records),
        contact=settings.human_contact,
    )
