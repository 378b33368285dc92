"""The SDKs' clients that only operators use. `shared/runtime/clients.py` has those of the functions.

Pub/Sub and Cloud Storage honour PUBSUB_EMULATOR_HOST and STORAGE_EMULATOR_HOST. Each import is inside its
function: most commands need none of these SDKs, and importing them takes seconds.
"""

from typing import Any

from shared.runtime.clients import regional


def subscriber() -> Any:
    """A `pubsub_v1.SubscriberClient`."""
    from google.cloud.pubsub_v1 import SubscriberClient

    return SubscriberClient()


def storage(project: str) -> Any:
    """A `storage.Client`."""
    from google.cloud.storage import Client

    return Client(project=project)


def rag_data(location: str, endpoint: str | None) -> Any:
    """A `VertexRagDataServiceClient` for a location; `endpoint` is a `host:port` on loopback."""
    from google.cloud.aiplatform_v1.services.vertex_rag_data_service import VertexRagDataServiceClient
    from google.cloud.aiplatform_v1.services.vertex_rag_data_service.transports.grpc import (
        VertexRagDataServiceGrpcTransport,
    )

    return regional(VertexRagDataServiceClient, VertexRagDataServiceGrpcTransport, location, endpoint)


def default_project() -> str | None:
    """The project of the credentials of this machine. None when there are no credentials, or no project."""
    import google.auth
    from google.auth.exceptions import DefaultCredentialsError

    try:
        return str(google.auth.default()[1] or "") or None
    except DefaultCredentialsError:
        return None
