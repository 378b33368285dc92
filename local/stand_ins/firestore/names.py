"""Resource names: `projects/{project}/databases/{database}/documents/{collection}/{id}[/{collection}/{id}…]`.

The rules for ids are on Firestore's page "Quotas and limits": at most 1,500 bytes, no `/`, not `.` or `..`,
and not `__…__`, except for numeric ids such as `__id7__`. A path has at most 100 levels.
"""

import re

from local.stand_ins.grpc_server import invalid

MAX_ID_BYTES = 1500
_MAX_SEGMENTS = 200  # 100 collections and 100 documents
_ROOT = re.compile(r"(projects/[^/]+/databases/[^/]+)/documents(?:/(.*))?", re.DOTALL)
_DATABASE = re.compile(r"projects/[^/]+/databases/[^/]+")
_RESERVED = re.compile(r"__.*__", re.DOTALL)
NUMERIC_ID = re.compile(r"__id-?[0-9]+__")


def check_id(kind: str, value: str) -> None:
    """Raise INVALID_ARGUMENT if `value` cannot be the id of a `kind` ("Document" or "Collection")."""
    if not value:
        raise invalid(f"{kind} id is empty")
    if value in (".", ".."):
        raise invalid(f'{kind} id "{value}" is invalid')
    if _RESERVED.fullmatch(value) and not NUMERIC_ID.fullmatch(value):
        raise invalid(f'{kind} id "{value}" is invalid because it is reserved')
    if len(value.encode()) > MAX_ID_BYTES:
        raise invalid(f"{kind} id is longer than {MAX_ID_BYTES} bytes")


def _segments(name: str, database: str) -> list[str]:
    match = _ROOT.fullmatch(name)
    if match is None:
        raise invalid(f'"{name}" is not the name of a document')
    if match[1] != database:
        raise invalid(f'"{name}" does not belong to the database "{database}"')
    return match[2].split("/") if match[2] is not None else []


def _check_path(name: str, segments: list[str]) -> None:
    if len(segments) % 2:
        raise invalid(f'Document name "{name}" has an odd number of path segments')
    if len(segments) > _MAX_SEGMENTS:
        raise invalid(f"Document name is too long: {len(segments) // 2} levels, at most {_MAX_SEGMENTS // 2}")
    for collection, document in zip(segments[::2], segments[1::2], strict=True):
        check_id("Collection", collection)
        check_id("Document", document)


def check_database(database: str) -> None:
    """Raise INVALID_ARGUMENT unless `database` is `projects/…/databases/…`."""
    if not _DATABASE.fullmatch(database):
        raise invalid(f'"{database}" is not the name of a database')


def check_document(name: str, database: str) -> None:
    """Raise INVALID_ARGUMENT unless `name` is a well-formed name of a document in `database`."""
    segments = _segments(name, database)
    if not segments:
        raise invalid(f'"{name}" is not the name of a document')
    _check_path(name, segments)


def check_parent(parent: str) -> None:
    """Raise INVALID_ARGUMENT unless `parent` is `…/documents` or the name of a document."""
    match = _ROOT.fullmatch(parent)
    if match is None:
        raise invalid(f'"{parent}" is not the parent of a collection')
    _check_path(parent, _segments(parent, match[1]))


def split(name: str) -> tuple[str, str, str]:
    """The parent's name, the collection id and the document id of a well-formed document name."""
    parent, collection, document = name.rsplit("/", 2)
    return parent, collection, document
