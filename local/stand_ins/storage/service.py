"""Cloud Storage's JSON API as google-cloud-storage sends it with STORAGE_EMULATOR_HOST.

Buckets are created; objects are uploaded (up to 8 MiB, which the SDK sends in one request), listed and
deleted. Everything else answers 501. No function of the bot calls it, so it has no faults of its own.
"""

import json
import re
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.places import BUCKET
from local.stand_ins.http_gate import already_exists, answering, invalid, not_found, unimplemented
from local.stand_ins.storage.objects import Objects, StoredObject

#: The most objects on one page of a list, as in the API.
MOST_ON_A_PAGE = 1000
EVERY_METHOD = ["GET", "POST", "PUT", "PATCH", "DELETE"]
#: Names of buckets (cloud.google.com/storage/docs/buckets#naming), without the ones with dots.
_BUCKET_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]")
#: Query parameters that have no effect here. Others are not implemented.
_IGNORED = {"alt", "prettyPrint", "projection", "project", "fields", "uploadType", "name"}


class Storage:
    """Buckets with objects, kept in the SQLite file `state` (None: in memory).

    The bucket of the local corpus exists from the start.
    """

    def __init__(self, state: Path | None) -> None:
        self.objects = Objects(state)

    def start(self) -> None:
        """Open the state. Raises OSError if another process uses the file, or if it is not an SQLite file."""
        self.objects.open()
        self.objects.make_bucket(BUCKET.removeprefix("gs://"))

    def stop(self) -> None:
        """Close the state."""
        self.objects.close()

    def routes(self) -> list[Route]:
        """The served paths of the API. All other paths answer 501."""
        bucket, name = "/storage/v1/b/{bucket}", "/storage/v1/b/{bucket}/o/{name:path}"
        return [
            Route("/storage/v1/b", answering(self._make_bucket), methods=["POST"]),
            Route(f"{bucket}/o", answering(self._list), methods=["GET"]),
            Route(f"/upload{bucket}/o", answering(self._upload), methods=["POST"]),
            Route(name, answering(self._delete), methods=["DELETE"]),
            *(
                Route(f"{root}/{{path:path}}", answering(_unserved), methods=EVERY_METHOD)
                for root in ("/storage", "/upload")
            ),
        ]

    async def _make_bucket(self, request: Request) -> Response:
        name = _json(await request.body(), request.headers.get("content-type", "")).get("name")
        if not isinstance(name, str) or not _BUCKET_NAME.fullmatch(name):
            raise invalid(f"Invalid bucket name: {name!r}")
        if not self.objects.make_bucket(name):
            raise already_exists(f"There is a bucket named {name} already")
        return JSONResponse({"kind": "storage#bucket", "id": name, "name": name, "location": "LOCAL"})

    async def _list(self, request: Request) -> Response:
        bucket = self._checked_bucket(request, frozenset({"prefix", "maxResults", "pageToken"}))
        query = request.query_params
        after = query.get("pageToken", "")
        found = [each for each in self.objects.named(bucket, query.get("prefix", "")) if each.name > after]
        most = int(query.get("maxResults") or MOST_ON_A_PAGE)
        page = found[: min(most, MOST_ON_A_PAGE)]
        more = {"nextPageToken": page[-1].name} if len(page) < len(found) else {}
        return JSONResponse({"kind": "storage#objects", "items": [_resource(each) for each in page], **more})

    async def _upload(self, request: Request) -> Response:
        bucket = self._checked_bucket(request)
        if request.query_params.get("uploadType") != "multipart":
            raise unimplemented("uploads of more than 8 MiB, or in several requests")
        about, content, kind = _two_parts(request.headers.get("content-type", ""), await request.body())
        name = about.get("name") or request.query_params.get("name")
        if not name:
            raise invalid("the object has no name")
        kind = about.get("contentType", kind)
        new = StoredObject(bucket, name, content, kind, 0)
        if about.get("crc32c", new.crc32c) != new.crc32c or about.get("md5Hash", new.md5) != new.md5:
            raise invalid("the content does not have the checksum that was sent")
        return JSONResponse(_resource(self.objects.put(bucket, name, content, kind)))

    async def _delete(self, request: Request) -> Response:
        bucket, name = self._checked_bucket(request), request.path_params["name"]
        if not self.objects.delete(bucket, name):
            raise not_found(f"No such object: {bucket}/{name}")
        return Response(status_code=204)

    def _checked_bucket(self, request: Request, served: frozenset[str] = frozenset()) -> str:
        asked = set(request.query_params) - _IGNORED - served
        if asked:
            raise unimplemented(", ".join(sorted(asked)))
        bucket = str(request.path_params["bucket"])
        if not self.objects.has_bucket(bucket):
            raise not_found(f"The specified bucket does not exist: {bucket}")
        return bucket


async def _unserved(request: Request) -> Response:
    raise unimplemented(f"{request.method} {request.url.path}")


def _json(body: bytes, content_type: str) -> dict[str, Any]:
    # A web page that a person has open cannot send this content type here without a preflight.
    if not content_type.startswith("application/json"):
        raise invalid(f"the content type must be JSON, not {content_type!r}")
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise invalid("the body is not a JSON object")
    return value


def _two_parts(content_type: str, body: bytes) -> tuple[dict[str, Any], bytes, str]:
    """The metadata of an object, its content and the content's type, from a multipart/related body."""
    header = Message()
    header["Content-Type"] = content_type
    boundary = header.get_boundary("")
    parts = body.split(b"--" + boundary.encode()) if boundary else []
    if header.get_content_type() != "multipart/related" or len(parts) != 4:
        raise invalid("the body must be multipart/related with two parts")
    (_, about), (heads, content) = (_head_and_body(part) for part in parts[1:3])
    kind = re.search(rb"content-type:\s*(\S+)", heads, re.IGNORECASE)
    return _json(about, "application/json"), content, kind[1].decode() if kind else "application/octet-stream"


def _head_and_body(part: bytes) -> tuple[bytes, bytes]:
    head, _, body = part.partition(b"\r\n\r\n")
    return head, body.removesuffix(b"\r\n")


def _resource(stored: StoredObject) -> dict[str, Any]:
    updated = datetime.fromtimestamp(stored.updated / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "kind": "storage#object",
        "id": f"{stored.bucket}/{stored.name}/{stored.updated}",
        "bucket": stored.bucket,
        "name": stored.name,
        "generation": stored.generation,
        "metageneration": "1",
        "contentType": stored.content_type,
        "size": str(len(stored.content)),
        "md5Hash": stored.md5,
        "crc32c": stored.crc32c,
        "timeCreated": updated,
        "updated": updated,
    }
