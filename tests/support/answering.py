"""What the tests of answering share: envelopes with what was found, and what is remembered."""

from typing import Any

from shared.memory.conversations import COLLECTION
from shared.messages.envelope import Context, Envelope
from shared.messages.names import document_id
from tests.support.factories import envelope


def findings(found: tuple[Context, ...], **fields: Any) -> Envelope:
    return envelope(**{"search_query": "How do I configure the VPN?", "contexts": found, **fields})


def saved(firestore: Any, sent: Envelope) -> list[dict[str, Any]]:
    """The turns of the conversation."""
    document = firestore.collection(COLLECTION).document(document_id(sent.question.conversation)).get()
    return list((document.to_dict() or {}).get("turns", []))
