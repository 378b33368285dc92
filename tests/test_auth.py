"""Who may speak to `ingest_fn`: Google Chat, for this app, now. Nobody else."""

from collections.abc import Iterator
from typing import Any

import pytest
from google.auth import crypt, jwt
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ingest_fn.auth import Unauthorized, Verifier
from local.tokens import CHAT_EMAIL, Signer
from shared.errors import Transient
from tests.http_serving import http_serving

AUDIENCE = "https://example.com/ingest"


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


@pytest.fixture(scope="module")
def fetches() -> list[str]:
    """One entry each time the certificates were fetched."""
    return []


@pytest.fixture(scope="module")
def certs_url(signer: Signer, fetches: list[str]) -> Iterator[str]:
    async def certificates(request: Request) -> Response:
        fetches.append(request.url.path)
        return JSONResponse(signer.certificates(), headers={"Cache-Control": "public, max-age=3600"})

    with http_serving([Route("/certs", certificates)]) as url:
        yield f"{url}/certs"


@pytest.fixture(scope="module")
def verifier(certs_url: str) -> Verifier:
    return Verifier(audience=AUDIENCE, email=CHAT_EMAIL, certs_url=certs_url)


def test_a_token_of_chat_for_this_app_is_accepted(verifier: Verifier, signer: Signer) -> None:
    assert verifier.check(f"Bearer {signer.mint(audience=AUDIENCE)}") is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    "forged",
    [
        {"audience": "https://example.com/other"},
        {"audience": "https://example.com/ingest/"},
        {"email": "chat@evil.gserviceaccount.com"},
        {"email": "service-1@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"},
        {"issuer": "https://accounts.google.com.evil.example"},
        {"lifetime": -60},
        {"extra": {"email_verified": False}},
        {"extra": {"email_verified": "true"}},
        {"extra": {"email": None}},
        {"extra": {"exp": "tomorrow"}},
        {"extra": {"iat": []}},
        {"extra": {"aud": {"x": 1}}},
    ],
    ids=str,
)
def test_a_token_with_one_wrong_claim_is_refused(
    verifier: Verifier, signer: Signer, forged: dict[str, Any]
) -> None:
    token = signer.mint(**{"audience": AUDIENCE, **forged})

    with pytest.raises(Unauthorized):
        verifier.check(f"Bearer {token}")


def test_a_token_signed_with_another_key_is_refused(verifier: Verifier, signer: Signer) -> None:
    for other in (Signer(key_id="someone-else"), Signer(key_id=signer.key_id)):
        with pytest.raises(Unauthorized):
            verifier.check(f"Bearer {other.mint(audience=AUDIENCE)}")


class _Unsigned(crypt.Signer):
    """Signs nothing."""

    key_id = "local-1"

    def sign(self, message: str | bytes) -> bytes:
        return b""


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS512"])
def test_another_algorithm_is_refused(verifier: Verifier, signer: Signer, algorithm: str) -> None:
    claims = {"iss": "https://accounts.google.com", "aud": AUDIENCE, "email": CHAT_EMAIL}
    token = jwt.encode(_Unsigned(), claims, header={"alg": algorithm}).decode()

    with pytest.raises(Unauthorized):
        verifier.check(f"Bearer {token}")


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic abc", "Bearer a.b.c", "Bearer ...."]
)
def test_no_token_is_refused(verifier: Verifier, header: str | None) -> None:
    with pytest.raises(Unauthorized):
        verifier.check(header)


def test_a_clock_that_is_a_little_off_does_not_matter(verifier: Verifier, signer: Signer) -> None:
    verifier.check(f"Bearer {signer.mint(audience=AUDIENCE, lifetime=-5)}")

    with pytest.raises(Unauthorized):
        verifier.check(f"Bearer {signer.mint(audience=AUDIENCE, lifetime=-15)}")


def test_certificates_are_fetched_once(verifier: Verifier, signer: Signer, fetches: list[str]) -> None:
    verifier.check(f"Bearer {signer.mint(audience=AUDIENCE)}")
    before = len(fetches)
    for _ in range(5):
        verifier.check(f"Bearer {signer.mint(audience=AUDIENCE)}")

    assert len(fetches) == before


def test_certificates_that_cannot_be_fetched_are_no_verdict(signer: Signer) -> None:
    verifier = Verifier(audience=AUDIENCE, email=CHAT_EMAIL, certs_url="http://127.0.0.1:9/certs")

    with pytest.raises(Transient, match="certificates_unavailable"):
        verifier.check(f"Bearer {signer.mint(audience=AUDIENCE)}")
