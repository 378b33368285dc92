"""Errors of RAG Engine and Cloud Storage, explained so that an operator can fix them."""

from collections.abc import Iterator
from contextlib import contextmanager

from ops.errors import Exit, OpsError
from shared.runtime.errors import StepError


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


def _kind_and_text(error: Exception) -> tuple[str, str]:
    cause = error.__cause__ if isinstance(error, StepError) and error.__cause__ else error
    return type(cause).__name__, str(getattr(cause, "message", "") or cause)
