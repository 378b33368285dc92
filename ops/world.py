"""One deployment: the local cloud, Google's emulators or Google Cloud. The environment decides which."""

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ops import clients
from ops.audit import Audit
from ops.errors import LOGIN, Exit, OpsError
from ops.settings import Settings
from ops.store import Store
from shared.memory.failures import Failures
from shared.memory.forgotten import Forgotten
from shared.memory.records import Records
from shared.runtime import clients as product_clients
from shared.runtime.outbox import Outbox

EMULATORS = ("FIRESTORE_EMULATOR_HOST", "PUBSUB_EMULATOR_HOST")


class World:
    """The services that commands work on. Each client is made at first use."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings

    def open(self, settings: Settings) -> None:
        """Work on the deployment of these settings."""
        self._settings = settings

    @cached_property
    def settings(self) -> Settings:
        """The deployment. Raises OpsError if the settings do not say which one."""
        refuse_mixed(os.environ)
        return with_project(self._settings or Settings())

    @property
    def where(self) -> str:
        """The deployment, for messages."""
        chosen = self.__dict__.get("settings", self._settings)
        if chosen is None:
            return "this deployment"
        return f"project {chosen.google_cloud_project or '(none)'}, database {chosen.firestore_database}"

    @cached_property
    def firestore(self) -> Any:
        """A `firestore.Client`."""
        return product_clients.firestore(self.settings.google_cloud_project, self.settings.firestore_database)

    @cached_property
    def store(self) -> Store:
        """The cases."""
        return Store(self.firestore)

    @cached_property
    def audit(self) -> Audit:
        """Who did what."""
        return Audit(self.firestore)

    @cached_property
    def failures(self) -> Failures:
        """Why steps have failed."""
        return Failures(self.firestore)

    @cached_property
    def forgotten(self) -> Forgotten:
        """What people told the bot to forget."""
        return Forgotten(self.firestore)

    @cached_property
    def records(self) -> Records:
        """The questions' final messages."""
        return Records(self.firestore, hours=24)

    @cached_property
    def outbox(self) -> Outbox:
        """The way to the topics."""
        return Outbox(product_clients.publisher(), self.settings.google_cloud_project)

    @cached_property
    def subscriber(self) -> Any:
        """A `pubsub_v1.SubscriberClient`."""
        return clients.subscriber()

    def rag_data(self, location: str) -> Any:
        """A `VertexRagDataServiceClient` for the corpora of a location."""
        return clients.rag_data(location, self.settings.rag_endpoint)

    @cached_property
    def storage(self) -> Any:
        """A `storage.Client`."""
        return clients.storage(self.settings.google_cloud_project)


def refuse_mixed(environ: Mapping[str, str]) -> None:
    """Raises OpsError if cases would be read from one place and their messages sent to another."""
    here = [name for name in EMULATORS if environ.get(name)]
    if len(here) == 1:
        [other] = set(EMULATORS) - set(here)
        raise OpsError(
            f"{here[0]} is set and {other} is not, so half of the work would be done on Google Cloud. "
            "Set both, or none.",
            Exit.INVALID,
        )


def with_project(settings: Settings) -> Settings:
    """The settings with the project found out if none was given. Raises OpsError."""
    if settings.google_cloud_project:
        return settings
    if os.environ.get("FIRESTORE_EMULATOR_HOST"):
        raise OpsError(
            "FIRESTORE_EMULATOR_HOST is set, but no project: set GOOGLE_CLOUD_PROJECT too.", Exit.INVALID
        )
    project = clients.default_project()
    if not project:
        raise OpsError(
            f"Which project? Pass --project NAME or set GOOGLE_CLOUD_PROJECT; and sign in: {LOGIN}",
            Exit.NOT_AUTHENTICATED,
        )
    return settings.model_copy(update={"google_cloud_project": project})
