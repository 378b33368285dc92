"""Settings from environment variables: one frozen object for each function, read once, in `main.py`."""

import os
import sys
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.pipeline import pipeline

LOOPBACK = {"127.0.0.1", "localhost"}
TOPIC = r"^[A-Za-z][A-Za-z0-9._~+%-]{2,254}$"


def _loopback_http(url: str) -> str:
    parts = urlsplit(url)
    plain = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username)
    if parts.scheme != "http" or parts.hostname not in LOOPBACK or parts.port is None or not plain:
        raise ValueError("must be http://127.0.0.1:PORT (a stand-in on this machine), or not set at all")
    return f"{parts.hostname}:{parts.port}"


#: `host:port` of a stand-in on loopback, given as an http:// URL; unset means the real service, over TLS.
LoopbackEndpoint = Annotated[str, AfterValidator(_loopback_http)]
#: How long a conversation and its questions' records are kept, in hours; at most a year.
Hours = Annotated[float, Field(gt=0, le=8760, allow_inf_nan=False)]
#: Each function's default is in the table (`shared/pipeline.json`).
StepSeconds = Annotated[float, Field(ge=20, lt=600, description="Deadline of the step, in seconds")]


class CommonSettings(BaseSettings):
    """The settings of every function. The variables are the field names in capitals."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    google_cloud_project: str = Field(min_length=1, description="Project of topics and Firestore")
    firestore_database: str = Field(default="(default)", min_length=1, description="Firestore database id")
    publishes_to: str | None = Field(default=None, pattern=TOPIC, description="Topic of the next step")
    dead_letter_topic: str = Field(
        default_factory=lambda: pipeline().dead_letters,
        pattern=TOPIC,
        description="Topic of the dead letters",
    )
    chat_writes_per_second: float = Field(
        default=1, gt=0, le=1000, description="Chat's quota of writes a second in one space"
    )
    log_content: bool = Field(default=False, description="Log questions and answers, too")
    history_hours: Hours = Field(
        default=24, description="How long a conversation is remembered, and a question's record is kept"
    )
    chat_endpoint: LoopbackEndpoint | None = Field(default=None, description="Stand-in for Google Chat")
    step_seconds: StepSeconds


def listed(value: Any) -> Any:
    """The values of a variable that are separated by commas."""
    return [each.strip() for each in value.split(",") if each.strip()] if isinstance(value, str) else value


S = TypeVar("S", bound=CommonSettings)


def read(settings: type[S]) -> S:
    """Read the settings of a function. If any are wrong, end the process with a text that names them all.

    So a deployment with a wrong setting fails its start-up check, and receives no messages.
    """
    try:
        return settings()
    except ValidationError as error:
        sys.exit(f"{settings.__module__.split('.')[0]} cannot start: {'; '.join(_faults(error, settings))}")


def _faults(error: ValidationError, settings: type[CommonSettings]) -> list[str]:
    return [_fault(fault, settings) for fault in error.errors()]


def _fault(fault: Any, settings: type[CommonSettings]) -> str:
    field = str(fault["loc"][0])
    variable = field.upper()
    about = settings.model_fields[field].description or ""
    if fault["type"] == "missing":
        return f"the environment variable {variable} is not set ({about})"
    value = os.environ.get(variable, "")
    return f"the environment variable {variable} is {value!r}: {fault['msg']} ({about})"
