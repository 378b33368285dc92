"""Exit codes, and what a person can do about an error."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from shared.runtime.errors import StepError

LOGIN = "gcloud auth application-default login"


#: What the first word of a reason code stands for.
SERVICES = {"pubsub": "Pub/Sub", "firestore": "Firestore"}


class Exit(IntEnum):
    """The exit codes of `python -m ops`; 2 is a wrong command line."""

    OK = 0
    FAILED = 1
    STOPPED = 3
    NOT_FOUND = 4
    INVALID = 5
    DECLINED = 6
    NOT_AUTHENTICATED = 7
    NO_PERMISSION = 8
    UNREACHABLE = 9


class OpsError(Exception):
    """An error that an operator can fix. The text says how."""

    def __init__(self, text: str, code: Exit = Exit.FAILED) -> None:
        super().__init__(text)
        self.code = code


def explained(error: Exception, where: str) -> OpsError:
    """Explain an SDK's error to the operator. `where` names the deployment."""
    if isinstance(error, OpsError):
        return error
    cause = error.__cause__ if isinstance(error, StepError) and error.__cause__ else error
    name = type(cause).__name__
    service = error.reason.partition("_")[0] if isinstance(error, StepError) else ""
    where = f"{SERVICES[service]} of {where}" if service in SERVICES else where
    # gRPC says it is unavailable when it could not get a token, such as one that has run out.
    no_token = name == "ServiceUnavailable" and "metadata from plugin failed" in str(cause)
    if no_token or name in {"DefaultCredentialsError", "RefreshError", "Unauthenticated", "Unauthorized"}:
        return OpsError(f"Google Cloud does not know who you are. Sign in: {LOGIN}", Exit.NOT_AUTHENTICATED)
    if name in {"PermissionDenied", "Forbidden"}:
        return OpsError(
            f"You may not do this in {where} ({_detail(cause)}). You need roles/datastore.user, "
            "roles/pubsub.publisher and, for `dead reconcile`, roles/pubsub.subscriber. If this is the wrong "
            "project, choose another one with --project NAME.",
            Exit.NO_PERMISSION,
        )
    if name == "NotFound":
        return OpsError(
            f"There is no such topic, subscription or database in {where}: {_detail(cause)}. Is this the "
            "project that Terraform deployed to? Choose another one with --project, --database and --prefix.",
            Exit.NOT_FOUND,
        )
    if name in {"ServiceUnavailable", "DeadlineExceeded", "RetryError", "TransportError", "TimeoutError"}:
        return OpsError(
            f"{where} does not answer ({name}). Is it running, and are you connected? Nothing is lost. Run "
            "the same command again.",
            Exit.UNREACHABLE,
        )
    return OpsError(f"{name} in {where}: {_detail(cause)}. Nothing is lost: run the same command again.")


@contextmanager
def explaining_rag(parent: str) -> Iterator[None]:
    """Work on the corpora of `projects/P/locations/L`. Raises OpsError, or what was raised."""
    try:
        yield
    except Exception as error:
        kind, said = _kind_and_text(error)
        region = parent.rsplit("/", 1)[-1]
        if "allowlist" in said.lower() or "allow-list" in said.lower():
            raise OpsError(
                f"RAG Engine accepts no new projects in {region}. Choose another region with "
                "--location, for example europe-west4. It may differ from the bot's region.",
                Exit.INVALID,
            ) from error
        if kind == "NotFound":
            raise OpsError(
                f"{parent} has no such corpus. `python -m ops knowledge list` lists those of a region, "
                "and `knowledge create` creates one.",
                Exit.NOT_FOUND,
            ) from error
        if kind in {"PermissionDenied", "Forbidden"}:
            raise OpsError(
                f"You may not do this in {parent}. You need roles/aiplatform.user, and the API must be on: "
                "gcloud services enable aiplatform.googleapis.com",
                Exit.NO_PERMISSION,
            ) from error
        if kind in {"InvalidArgument", "BadRequest"}:
            raise OpsError(f"RAG Engine refused this in {parent}: {said[:300]}", Exit.INVALID) from error
        if kind == "ServiceUnavailable":
            raise OpsError(
                f"RAG Engine does not answer in {region}. Does the region exist, and are you connected? "
                "Nothing is lost. Run the same command again.",
                Exit.UNREACHABLE,
            ) from error
        raise


@contextmanager
def explaining_bucket(bucket: str) -> Iterator[None]:
    """Work on a bucket. Raises OpsError, or what was raised."""
    try:
        yield
    except Exception as error:
        kind, _ = _kind_and_text(error)
        if kind == "NotFound":
            raise OpsError(
                f"There is no bucket {bucket}. Create it: gcloud storage buckets create gs://{bucket} "
                "--location=REGION --uniform-bucket-level-access",
                Exit.NOT_FOUND,
            ) from error
        if kind in {"PermissionDenied", "Forbidden"}:
            raise OpsError(
                f"You may not do this in the bucket {bucket}. You need roles/storage.objectUser on it.",
                Exit.NO_PERMISSION,
            ) from error
        raise


def _detail(error: BaseException) -> str:
    message: Any = getattr(error, "message", None) or str(error)
    line = str(message).splitlines()[0] if str(message) else type(error).__name__
    return line.rstrip(".")[:200]


def _kind_and_text(error: Exception) -> tuple[str, str]:
    cause = error.__cause__ if isinstance(error, StepError) and error.__cause__ else error
    return type(cause).__name__, str(getattr(cause, "message", "") or cause)
