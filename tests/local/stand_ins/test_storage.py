"""Cloud Storage's stand-in as the real client sees it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from google.api_core import exceptions
from google.cloud.storage import Client
from starlette.applications import Starlette

from local.stand_ins.storage.service import Storage
from tests.support.http_serving import http_serving
from tests.support.loopback import http

BUCKET = "threadwise-knowledge"


@contextmanager
def served(state: Path | None) -> Iterator[str]:
    storage = Storage(state)

    @asynccontextmanager
    async def opened(_: Starlette) -> AsyncIterator[None]:
        storage.start()
        yield
        storage.stop()

    with http_serving(storage.routes(), lifespan=opened) as url, pytest.MonkeyPatch.context() as environment:
        environment.setenv("STORAGE_EMULATOR_HOST", url)
        yield url


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(None) as url:
        yield url


@pytest.fixture
def client(url: str) -> Client:
    return Client(project="demo")


def test_what_is_uploaded_is_listed_with_its_checksums(client: Client) -> None:
    blob = client.bucket(BUCKET).blob("en/vpn setup (新).md")
    content = b"# VPN\r\n\r\n--not a boundary\r\n\x00\xff"

    blob.upload_from_string(content, content_type="text/markdown", retry=None)

    (listed,) = client.list_blobs(BUCKET, prefix="en/vpn", retry=None)
    assert (listed.name, listed.size, listed.content_type) == (blob.name, len(content), "text/markdown")
    assert listed.crc32c == blob.crc32c
    assert listed.md5_hash == blob.md5_hash
    assert listed.updated == blob.updated


def test_an_upload_replaces_and_has_a_new_generation(client: Client) -> None:
    blob = client.bucket(BUCKET).blob("again.md")
    blob.upload_from_string("one", retry=None)
    first = blob.generation

    blob.upload_from_string("two!", retry=None)

    (listed,) = client.list_blobs(BUCKET, prefix="again.md", retry=None)
    assert (listed.size, listed.generation) == (4, blob.generation)
    assert blob.generation > first


def test_lists_come_in_pages_and_keep_to_the_prefix(client: Client) -> None:
    for number in range(5):
        client.bucket(BUCKET).blob(f"pages/{number}.md").upload_from_string("x", retry=None)
    client.bucket(BUCKET).blob("pages_of_others.md").upload_from_string("x", retry=None)

    pages = client.list_blobs(BUCKET, prefix="pages/", page_size=2, retry=None).pages

    assert [[blob.name[-4] for blob in page] for page in pages] == [["0", "1"], ["2", "3"], ["4"]]


def test_what_is_deleted_is_gone(client: Client) -> None:
    client.bucket(BUCKET).blob("short-lived.md").upload_from_string("x", retry=None)
    blob = client.bucket(BUCKET).blob("short-lived.md")

    blob.delete(retry=None)

    assert list(client.list_blobs(BUCKET, prefix="short-lived.md", retry=None)) == []
    with pytest.raises(exceptions.NotFound):
        blob.delete(retry=None)


def test_a_bucket_must_be_made_first_and_only_once(client: Client) -> None:
    with pytest.raises(exceptions.NotFound, match="does not exist"):
        list(client.list_blobs("nobody-made-it", retry=None))

    client.create_bucket("somebody-made-it", retry=None)

    assert list(client.list_blobs("somebody-made-it", retry=None)) == []
    with pytest.raises(exceptions.Conflict):
        client.create_bucket("somebody-made-it", retry=None)


def test_a_wrong_checksum_is_refused(url: str) -> None:
    body = (
        b'--b\r\ncontent-type: application/json\r\n\r\n{"name": "x.md", "crc32c": "AAAAAA=="}\r\n'
        b"--b\r\ncontent-type: text/plain\r\n\r\nhello\r\n--b--"
    )
    response = http.post(
        f"{url}/upload/storage/v1/b/{BUCKET}/o?uploadType=multipart",
        content=body,
        headers={"Content-Type": 'multipart/related; boundary="b"'},
    )

    assert response.status_code == 400
    assert "checksum" in response.text


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_web_page_cannot_make_buckets_or_objects(url: str, kind: str) -> None:
    """A page that a person has open may send these types to loopback without being asked for more."""
    for path in (f"/upload/storage/v1/b/{BUCKET}/o?uploadType=multipart", "/storage/v1/b"):
        body = '{"name": "from-a-page"}'
        response = http.post(f"{url}{path}", content=body, headers={"Content-Type": kind})
        assert response.status_code == 400


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/storage/v1/b/{BUCKET}/o?delimiter=/"),
        ("POST", f"/upload/storage/v1/b/{BUCKET}/o?uploadType=resumable"),
        ("DELETE", f"/storage/v1/b/{BUCKET}"),
        ("GET", "/storage/v1/b"),
        ("GET", f"/storage/v1/b/{BUCKET}"),
        ("GET", f"/storage/v1/b/{BUCKET}/o/a.md"),
    ],
)
def test_everything_else_is_unimplemented(url: str, method: str, path: str) -> None:
    response = http.request(method, f"{url}{path}")

    assert (response.status_code, response.json()["error"]["status"]) == (501, "UNIMPLEMENTED")


def test_objects_survive_the_process(tmp_path: Path) -> None:
    state = tmp_path / "state" / "storage.sqlite"
    with served(state):
        Client(project="demo").bucket(BUCKET).blob("kept.md").upload_from_string("kept", retry=None)

    with served(state):
        names = [blob.name for blob in Client(project="demo").list_blobs(BUCKET, retry=None)]

    assert names == ["kept.md"]
