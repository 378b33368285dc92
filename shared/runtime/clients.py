"""The SDKs' clients. Only the environment decides whether they call Google or local stand-ins.

Pub/Sub and Firestore honour PUBSUB_EMULATOR_HOST and FIRESTORE_EMULATOR_HOST, google-genai honours
GOOGLE_GEMINI_BASE_URL. Chat and RAG Engine have no such variable, so their endpoint is a setting: a
`host:port` on loopback means no TLS and no credentials. Create clients on first use, never at import: gRPC
does not survive the fork into gunicorn's worker. Each import is inside its function, because each deployment
ships only the SDKs that it needs.
"""

from typing import Any

#: The only permission for Chat that the bot needs
#: (developers.google.com/workspace/chat/authenticate-authorize).
CHAT_SCOPE = "https://www.googleapis.com/auth/chat.bot"


def publisher() -> Any:
    """A `pubsub_v1.PublisherClient` that sends each message at once."""
    from google.cloud.pubsub_v1 import PublisherClient
    from google.cloud.pubsub_v1.types import BatchSettings

    return PublisherClient(batch_settings=BatchSettings(max_messages=1))


def firestore(project: str, database: str) -> Any:
    """A `firestore.Client`."""
    from google.cloud.firestore import Client

    return Client(project=project, database=database)


def gemini() -> Any:
    """A `genai.Client`, configured by its own environment variables."""
    from google import genai

    return genai.Client()


def chat(endpoint: str | None) -> Any:
    """A `ChatServiceClient` over REST; `endpoint` is a `host:port` on loopback."""
    from google.apps.chat_v1.services.chat_service import ChatServiceClient
    from google.apps.chat_v1.services.chat_service.transports import ChatServiceRestTransport
    from google.auth.credentials import AnonymousCredentials

    if endpoint is None:
        return ChatServiceClient(transport=ChatServiceRestTransport(scopes=[CHAT_SCOPE]))
    return ChatServiceClient(
        transport=ChatServiceRestTransport(
            host=endpoint, url_scheme="http", credentials=AnonymousCredentials()
        )
    )


def rag(location: str, endpoint: str | None) -> Any:
    """A `VertexRagServiceClient` for the corpus's location; `endpoint` is a `host:port` on loopback."""
    from google.cloud.aiplatform_v1.services.vertex_rag_service import VertexRagServiceClient
    from google.cloud.aiplatform_v1.services.vertex_rag_service.transports.grpc import (
        VertexRagServiceGrpcTransport,
    )

    return regional(VertexRagServiceClient, VertexRagServiceGrpcTransport, location, endpoint)


def regional(client: Any, transport: Any, location: str, endpoint: str | None) -> Any:
    """A client of Vertex AI for a location; `endpoint` is a `host:port` on loopback."""
    if endpoint is None:
        return client(client_options={"api_endpoint": f"{location}-aiplatform.googleapis.com"})
    import grpc

    return client(transport=transport(channel=grpc.insecure_channel(endpoint)))
