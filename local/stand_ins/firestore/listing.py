"""Listing what is there: the documents of a collection and the collections of a document, page by page."""

import base64
import binascii

from local.stand_ins.firestore import field_paths
from local.stand_ins.firestore.errors import invalid, unimplemented
from local.stand_ins.firestore.messages import (
    Document,
    ListCollectionIdsResponse,
    ListDocumentsResponse,
    Message,
)
from local.stand_ins.firestore.names import check_id, check_parent
from local.stand_ins.firestore.store import Store

_PAGE_SIZE = 300


def _page(ids: set[str], size: int, token: str) -> tuple[list[str], str]:
    if size < 0:
        raise invalid("page size is negative")
    try:
        last = base64.urlsafe_b64decode(token.encode()).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise invalid("invalid page token") from error
    rest = sorted(one for one in ids if one > last)
    page = rest[: size or _PAGE_SIZE]
    more = len(page) < len(rest)
    return page, base64.urlsafe_b64encode(page[-1].encode()).decode() if more else ""


def documents(store: Store, request: Message) -> Message:
    """ListDocuments, by id; with `show_missing` also those that only have documents below them.

    Raises INVALID_ARGUMENT for a malformed request, UNIMPLEMENTED for orders and reads in the past.
    """
    check_parent(request.parent)
    check_id("Collection", request.collection_id)
    if request.order_by or request.WhichOneof("consistency_selector"):
        raise unimplemented("ListDocuments with order_by, a transaction or read_time")
    collection = f"{request.parent}/{request.collection_id}"
    page, token = _page(store.child_segments(collection), request.page_size, request.page_token)
    paths = [field_paths.parse(path) for path in request.mask.field_paths]
    answer = ListDocumentsResponse(next_page_token=token)
    for name in (f"{collection}/{one}" for one in page):
        document = store.get(name)
        if document is not None:
            masked = request.HasField("mask")
            answer.documents.append(field_paths.project(document, paths) if masked else document)
        elif request.show_missing:
            answer.documents.append(Document(name=name))
    return answer


def collection_ids(store: Store, request: Message) -> Message:
    """ListCollectionIds: the collections directly below a document or the root. Raises like `documents`."""
    check_parent(request.parent)
    if request.WhichOneof("consistency_selector"):
        raise unimplemented("ListCollectionIds with read_time")
    page, token = _page(store.child_segments(request.parent), request.page_size, request.page_token)
    return ListCollectionIdsResponse(collection_ids=page, next_page_token=token)
