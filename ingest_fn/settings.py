"""What `ingest_fn` is told by its environment."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from shared.settings import LOOPBACK, TOPIC, CommonSettings, Hours, LoopbackEndpoint

GOOGLE_CERTS = "https://www.googleapis.com/oauth2/v1/certs"


def _google_or_loopback(url: str) -> str:
    parts = urlsplit(url)
    google = url == GOOGLE_CERTS
    loopback = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not google and not loopback:
        raise ValueError("must be Google's certificates, or a stand-in on this machine")
    return url


class Settings(CommonSettings):
    """Where questions go, and how a request proves that it comes from Google Chat."""

    publishes_to: str = Field(default="questions", pattern=TOPIC, description="Topic of the next step")
    history_hours: Hours = Field(default=24, description="How long a conversation is remembered")
    chat_endpoint: LoopbackEndpoint | None = Field(default=None, description="Stand-in for Google Chat")
    chat_audience: str = Field(
        min_length=1, description="Audience of Chat's tokens: the URL configured for the Chat app"
    )
    chat_email: str = Field(
        default="chat@system.gserviceaccount.com", description="Identity that Chat calls with"
    )
    chat_certs_url: Annotated[str, AfterValidator(_google_or_loopback)] = Field(
        default=GOOGLE_CERTS, description="Certificates of Chat's tokens"
    )
    step_seconds: float = Field(default=25, gt=10, lt=30, description="Chat waits 30 s for an answer")
