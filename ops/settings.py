"""Settings of the operators' tools, from options or from environment variables with the same names."""

import getpass
from collections.abc import Mapping
from datetime import timedelta

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from ops.errors import Exit, OpsError
from shared.pipeline import pipeline
from shared.runtime.retry import Policy
from shared.runtime.settings import TOPIC, Hours, LoopbackEndpoint

LOCATION = r"^[a-z][a-z0-9-]*$"
#: Retries for services that only these tools call. An operator can wait longer than a user in Chat.
#: The quota of RAG Engine is 60 calls a minute.
RAG_DATA = Policy("rag", 30, 6)
#: A failed attempt may have created the corpus, and names need not be unique.
RAG_CREATE = Policy("rag", 30, 1)
RAG_LOOK = Policy("rag", 120, 4)
#: A file has at most 50 MB.
STORAGE = Policy("storage", 120, 6)
#: Many cases in one commit.
FIRESTORE_MANY = Policy("firestore", 10, 4)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # a user without a name, as in many containers
        raise OpsError("Who are you? The audit asks: set OPERATOR to your name.", Exit.INVALID) from None


class Settings(BaseSettings):
    """The deployment and the operator. The environment variables are the field names in capitals."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    google_cloud_project: str = Field(
        default="", pattern=r"^([a-z][a-z0-9.:-]{2,}[a-z0-9])?$", description="Project of the bot, by its id"
    )
    firestore_database: str = Field(default="(default)", min_length=1, description="Firestore database id")
    name_prefix: str = Field(
        default="", pattern=r"^([a-z][a-z0-9]*)?$", description="Terraform's name_prefix"
    )
    stale_hours: Hours = Field(default=24, description="Questions older than this are not replayed")
    dead_letter_topic: str = Field(default_factory=lambda: pipeline().dead_letters, pattern=TOPIC)
    dead_letter_backup: str = Field(default_factory=lambda: pipeline().dead_letters_backup, pattern=TOPIC)
    rag_location: str = Field(
        default="europe-west4", pattern=LOCATION, description="Region of the corpora, apart from all else"
    )
    rag_endpoint: LoopbackEndpoint | None = Field(default=None, description="Stand-in for RAG Engine")
    operator: str = Field(default_factory=_user, min_length=1, description="Who works here")

    @property
    def stale_after(self) -> timedelta:
        """Questions older than this are replayed only on request."""
        return timedelta(hours=self.stale_hours)

    def named(self, name: str) -> str:
        """The full name of a topic, subscription or function of this deployment."""
        return f"{self.name_prefix}-{name}" if self.name_prefix else name


def chosen(given: Mapping[str, str]) -> Settings:
    """The settings from `given`, and the rest from the environment. Raises OpsError if one is wrong."""
    try:
        return Settings.model_validate(given)  # the rest is read from the environment
    except ValidationError as error:
        faults = "; ".join(f"{str(fault['loc'][0]).upper()}: {fault['msg']}" for fault in error.errors())
        raise OpsError(f"A setting is wrong: {faults}", Exit.INVALID) from None
