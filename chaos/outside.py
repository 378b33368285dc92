"""What is visible from outside afterwards: Chat's messages, Firestore's documents, the dead letters."""

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.cloud.firestore import Client
from google.cloud.pubsub_v1 import SubscriberClient
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport

from chaos.world import TURNS, Documents, Json, document_of, question_in
from local.places import HOST, PROJECT, Places
from shared.pipeline import pipeline

#: Dead letters pulled at once: gRPC takes 4 MiB, a message with its findings is some 10 KiB.
AT_ONCE = 100
#: Stands for the question's id if a message does not say to which question it belongs.
UNREADABLE = "?"


@dataclass(frozen=True)
class Outside:
    """One look. `messages` are the bot's in Chat, oldest first; `not_taken` the names of the persons'
    messages that Chat gave up on; `documents` all of Firestore's, by collection and id."""

    messages: list[Json]
    not_taken: frozenset[str] = frozenset()
    documents: Documents = field(default_factory=dict)
    #: Dead letters that went through Pub/Sub, by question id.
    letters: Counter[str] = field(default_factory=Counter)
    #: How many of them Pub/Sub forwarded after all attempts. The functions parked the others at once.
    exhausted: int = 0
    #: Whether Chat refused calls for good. Then an asker may have received no message.
    refused: bool = False
    #: Whether all work had ended.
    settled: bool = True

    def turns(self, place: str, part: str = "turns") -> list[Json]:
        """The saved turns of a conversation, or its `pending` questions."""
        held: list[Json] = self.documents.get(TURNS, {}).get(document_of(place), {}).get(part, [])
        return held


def look(firestore: Client, places: Places, messages: Iterable[Json], not_taken: Iterable[str]) -> Outside:
    """Read Firestore, and empty the operators' own subscription to the dead letters.

    Raises google.api_core.exceptions.GoogleAPICallError.
    """
    letters = list(_letters(places))
    return Outside(
        messages=sorted(messages, key=lambda message: str(message["createTime"])),
        not_taken=frozenset(not_taken),
        documents={found.id: _documents(found) for found in firestore.collections()},
        letters=Counter(question_in(letter.data) or UNREADABLE for letter in letters),
        exhausted=sum(any(name.startswith("CloudPubSub") for name in each.attributes) for each in letters),
    )


def _documents(collection: Any) -> dict[str, Json]:
    return {snapshot.id: snapshot.to_dict() or {} for snapshot in collection.stream()}


def _letters(places: Places) -> list[Any]:
    path = f"projects/{PROJECT}/subscriptions/{pipeline().dead_letters_backup}"
    letters: list[Any] = []
    with grpc.insecure_channel(f"{HOST}:{places.pubsub}") as channel:
        subscriber = SubscriberClient(transport=SubscriberGrpcTransport(channel=channel))
        while received := _pull(subscriber, path):
            letters += [each.message for each in received]
            subscriber.acknowledge(subscription=path, ack_ids=[each.ack_id for each in received])
    return letters


def _pull(subscriber: SubscriberClient, path: str) -> list[Any]:
    # Deprecated, but a wait for more would only tell later that there is none.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        request = {"subscription": path, "max_messages": AT_ONCE, "return_immediately": True}
        return list(subscriber.pull(request=request, timeout=30).received_messages)
