"""A folder of a Cloud Storage bucket, from which RAG Engine imports."""

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import google_crc32c
from google.api_core.exceptions import NotFound

from ops.articles import CONTENT_TYPES, LocalFile
from ops.errors import Exit, OpsError, explaining_bucket
from ops.settings import STORAGE
from shared.runtime.deadline import Deadline
from shared.runtime.retry import call

#: Seconds for a call with all its attempts.
WITHIN = 300.0
#: How many files are uploaded at the same time.
THREADS = 8
_URI = re.compile(r"gs://(?P<bucket>[a-z0-9][a-z0-9._-]{1,220}[a-z0-9])(?:/(?P<prefix>.*))?", re.DOTALL)


@dataclass(frozen=True)
class Object:
    """One object: its URI, its size in bytes, its checksum as the API gives it, and when it was written."""

    uri: str
    size: int
    crc32c: str
    updated: datetime


class Bucket:
    """The objects at or below a `gs://bucket/prefix`. `client` is a `storage.Client`."""

    def __init__(self, client: Any, uri: str) -> None:
        """Raises OpsError when `uri` has another form."""
        match = _URI.fullmatch(uri)
        if match is None:
            raise OpsError(f"{uri} does not have the form gs://bucket/prefix.", Exit.INVALID)
        self._client = client
        self._name = match["bucket"]
        self._prefix = (match["prefix"] or "").strip("/")

    @property
    def uri(self) -> str:
        """`gs://bucket` or `gs://bucket/prefix`."""
        return f"gs://{self._name}/{self._prefix}".rstrip("/")

    def holds(self, uri: str) -> bool:
        """Whether a URI is this one or begins with it."""
        return uri == self.uri or uri.startswith(f"{self.uri}/")

    def objects(self) -> dict[str, Object]:
        """The objects that can be imported, by URI. Raises OpsError when there is no such bucket."""
        found = self._call(self._listed)
        objects = (_object(self._name, blob) for blob in found)
        return {each.uri: each for each in objects if self.holds(each.uri) and _importable(each.uri)}

    def upload(self, files: Mapping[str, LocalFile], on_file: Callable[[], None]) -> dict[str, Object]:
        """Upload files to their URIs. `on_file` is called after each. Returns the new objects by URI."""

        def one(item: tuple[str, LocalFile]) -> Object:
            uri, file = item
            blob = self._blob(uri)
            kind = CONTENT_TYPES[file.path.suffix.lower()]
            self._call(partial(blob.upload_from_filename, str(file.path), content_type=kind, retry=None))
            on_file()
            return _object(self._name, blob)

        with ThreadPoolExecutor(THREADS) as threads:
            return {each.uri: each for each in threads.map(one, files.items())}

    def delete(self, uris: Iterable[str]) -> None:
        """Delete these objects. An object that is already gone is not an error."""
        for uri in uris:
            blob = self._blob(uri)
            with suppress(NotFound):
                self._call(partial(blob.delete, retry=None), answers=(NotFound,))

    def _listed(self, timeout: float) -> list[Any]:
        return list(self._client.list_blobs(self._name, prefix=self._prefix, retry=None, timeout=timeout))

    def _blob(self, uri: str) -> Any:
        return self._client.bucket(self._name).blob(uri.removeprefix(f"gs://{self._name}/"))

    def _call(self, work: Callable[..., Any], answers: tuple[type[Exception], ...] = ()) -> Any:
        with explaining_bucket(self._name):
            return call(lambda timeout: work(timeout=timeout), STORAGE, Deadline(WITHIN), answers=answers)


def checksum(content: bytes) -> str:
    """The CRC32C of a content as Cloud Storage gives it."""
    return base64.b64encode(google_crc32c.value(content).to_bytes(4, "big")).decode()


def _object(bucket: str, blob: Any) -> Object:
    return Object(f"gs://{bucket}/{blob.name}", int(blob.size), str(blob.crc32c), blob.updated)


def _importable(uri: str) -> bool:
    return uri.lower().endswith(tuple(CONTENT_TYPES))
