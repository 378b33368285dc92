"""Who may speak to `ingest_fn`: Google Chat for this app, and the topic of its events. Nobody else."""

import base64
import hmac
import json
from collections.abc import Iterator
from typing import Any

import pytest
from google.auth import crypt, jwt
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ingest_fn.auth import Trusted, Unauthorized, Verifier
from ingest_fn.settings import Settings
from local.places import ADD_ON_IDENTITY, CHAT_IDENTITY, PROJECT_NUMBER, PUSH_IDENTITY
from local.stand_ins.tokens import Signer
from shared.runtime.errors import Transient
from tests.support.http_serving import http_serving

URL = "https://example.com/ingest"
PUSHED_TO = "https://ingest.example.com/push"
ANOTHER_ADD_ON = "service-1@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"
GOOGLE, CHAT = Signer(), Signer("chat-1")


@pytest.fixture(scope="module")
def fetches() -> list[str]:
    """One entry each time certificates were fetched."""
    return []


@pytest.fixture(scope="module")
def certs_url(fetches: list[str]) -> Iterator[str]:
    async def certificates(request: Request) -> Response:
        fetches.append(request.url.path)
        signer = CHAT if request.url.path.endswith("chat") else GOOGLE
        return JSONResponse(signer.certificates(), headers={"Cache-Control": "public, max-age=3600"})

    with http_serving([Route("/certs", certificates), Route("/certs/chat", certificates)]) as url:
        yield f"{url}/certs"


#: Who is trusted, one kind of deployment each, and how it is called.
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "classic, url": ({"chat_audience": URL}, {"audience": URL, "email": CHAT_IDENTITY}),
    "classic, number": (
        {"chat_audience": PROJECT_NUMBER},
        {"audience": PROJECT_NUMBER, "email": None, "issuer": CHAT_IDENTITY},
    ),
    "add-on": (
        {"chat_audience": URL, "chat_email": ADD_ON_IDENTITY},
        {"audience": URL, "email": ADD_ON_IDENTITY},
    ),
    "pushed": (
        {"chat_audience": URL, "chat_email": "", "push_email": PUSH_IDENTITY, "push_audience": PUSHED_TO},
        {"audience": PUSHED_TO, "email": PUSH_IDENTITY},
    ),
}


def trusted(**given: Any) -> tuple[Trusted, ...]:
    return Settings(google_cloud_project="p", **given).trusted


@pytest.fixture
def verifier(certs_url: str, request: pytest.FixtureRequest) -> Verifier:
    settings = KINDS[getattr(request, "param", "classic, url")][0]
    return Verifier(trusted(**settings), certs_url=certs_url, chat_certs_url=f"{certs_url}/chat")


@pytest.fixture(scope="module")
def everybody(certs_url: str) -> Verifier:
    """A verifier that trusts all four at once, as while a Chat app is being converted."""
    return Verifier(
        trusted(
            chat_audience=f"{URL}, {PROJECT_NUMBER}",
            chat_email=f"{CHAT_IDENTITY},{ADD_ON_IDENTITY}",
            push_email=PUSH_IDENTITY,
            push_audience=PUSHED_TO,
        ),
        certs_url=certs_url,
        chat_certs_url=f"{certs_url}/chat",
    )


def token_of(kind: str, **forged: Any) -> str:
    """The header with the token of a kind of caller, with some claims forged."""
    signer = forged.pop("signer", CHAT if kind == "classic, number" else GOOGLE)
    return f"Bearer {signer.mint(**{**KINDS[kind][1], **forged})}"


def refused(verifier: Verifier, header: str | None) -> None:
    with pytest.raises(Unauthorized):
        verifier.check(header)


@pytest.mark.parametrize("verifier, kind", [(kind, kind) for kind in KINDS], indirect=["verifier"])
def test_each_kind_of_caller_is_known_by_its_own_token(verifier: Verifier, kind: str) -> None:
    assert verifier.check(token_of(kind)) == ("pubsub" if kind == "pushed" else "chat")


@pytest.mark.parametrize(
    "verifier, other",
    [(kind, other) for kind in KINDS for other in KINDS if other != kind],
    indirect=["verifier"],
)
def test_a_deployment_trusts_no_other_kind_of_caller(verifier: Verifier, other: str) -> None:
    refused(verifier, token_of(other))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "forged",
    [
        {"audience": "https://example.com/other"},
        {"audience": f"{URL}/"},
        {"audience": URL.replace("https", "http")},
        {"audience": "400000000002"},
        {"audience": ""},
        {"issuer": "https://accounts.google.com.evil.example"},
        {"issuer": "chat@system.gserviceaccount.com.evil.example"},
        {"issuer": ""},
        {"lifetime": -60},
        {"signer": Signer("someone-else")},
        {"signer": Signer("local-1")},
        {"signer": Signer("chat-1")},
        {"extra": {"exp": "tomorrow"}},
        {"extra": {"iat": []}},
        {"extra": {"iat": 10**11}},
        {"extra": {"aud": {"x": 1}}},
        {"extra": {"aud": [URL]}},
        {"extra": {"aud": None}},
        {"extra": {"iss": [CHAT_IDENTITY]}},
    ],
    ids=lambda forged: ", ".join(f"{name}={getattr(part, 'key_id', part)}" for name, part in forged.items()),
)
def test_a_token_with_one_wrong_part_is_refused(everybody: Verifier, kind: str, forged: Any) -> None:
    refused(everybody, token_of(kind, **forged))


@pytest.mark.parametrize("kind", ["classic, url", "add-on", "pushed"])
@pytest.mark.parametrize(
    "forged",
    [
        {"email": "chat@evil.iam.gserviceaccount.com"},
        {"email": ANOTHER_ADD_ON},
        {"email": f"{PROJECT_NUMBER}@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"},
        {"email": CHAT_IDENTITY.upper()},
        {"email": f" {CHAT_IDENTITY}"},
        {"email": "pubsub-push@another-project.iam.gserviceaccount.com"},
        {"email": "somebody@example.com"},
        {"extra": {"email_verified": False}},
        {"extra": {"email_verified": "true"}},
        {"extra": {"email": None}},
        {"extra": {"email": [CHAT_IDENTITY]}},
    ],
    ids=str,
)
def test_an_identity_is_compared_as_a_whole(everybody: Verifier, kind: str, forged: Any) -> None:
    refused(everybody, token_of(kind, **forged))


def test_an_audience_of_one_and_the_identity_of_another_do_not_make_a_caller(everybody: Verifier) -> None:
    pairs = ((URL, PUSH_IDENTITY), (PUSHED_TO, CHAT_IDENTITY), (PROJECT_NUMBER, CHAT_IDENTITY))
    for audience, email in pairs:
        refused(everybody, f"Bearer {GOOGLE.mint(audience=audience, email=email)}")


def test_what_chat_signs_itself_is_for_the_project_s_number_alone(everybody: Verifier) -> None:
    for audience in (URL, PUSHED_TO):
        refused(everybody, token_of("classic, number", audience=audience))


def test_what_google_signs_is_not_taken_for_what_chat_signs_and_the_other_way_round(
    everybody: Verifier,
) -> None:
    refused(everybody, token_of("classic, number", signer=GOOGLE))
    refused(everybody, token_of("classic, url", signer=CHAT))
    refused(everybody, token_of("classic, number", issuer="https://accounts.google.com"))


def test_nobody_is_trusted_where_nothing_is_set(certs_url: str) -> None:
    nobody = Verifier((), certs_url=certs_url, chat_certs_url=certs_url)

    for kind in KINDS:
        refused(nobody, token_of(kind))


class _Unsigned(crypt.Signer):
    """Signs nothing."""

    key_id = "local-1"

    def sign(self, message: str | bytes) -> bytes:
        return b""


class _SignsWithTheCertificate(crypt.Signer):
    """Signs as with a shared secret, which is the public certificate."""

    key_id = "local-1"

    def sign(self, message: str | bytes) -> bytes:
        signed = message if isinstance(message, bytes) else message.encode()
        return hmac.digest(GOOGLE.certificates()["local-1"].encode(), signed, "sha256")


@pytest.mark.parametrize("signer", [_Unsigned(), _SignsWithTheCertificate()])
@pytest.mark.parametrize("algorithm", ["none", "None", "HS256", "RS512", "ES256", "", None, ["RS256"]])
def test_another_algorithm_is_refused(everybody: Verifier, signer: Any, algorithm: Any) -> None:
    claims = {
        "iss": "https://accounts.google.com",
        "aud": URL,
        "email": CHAT_IDENTITY,
        "email_verified": True,
        "iat": 1,
        "exp": 10**11,
    }
    refused(everybody, f"Bearer {jwt.encode(signer, claims, header={'alg': algorithm}).decode()}")


def test_claims_changed_after_signing_are_refused(everybody: Verifier) -> None:
    header, claims, signature = token_of("add-on", email=ANOTHER_ADD_ON).split(" ")[1].split(".")
    read = json.loads(base64.urlsafe_b64decode(claims + "=="))
    changed = base64.urlsafe_b64encode(json.dumps({**read, "email": ADD_ON_IDENTITY}).encode())

    refused(everybody, f"Bearer {header}.{changed.rstrip(b'=').decode()}.{signature}")


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic abc", "Bearer a.b.c", "Bearer ....", "Bearer \udcff"]
)
def test_no_token_is_refused(verifier: Verifier, header: str | None) -> None:
    refused(verifier, header)


@pytest.mark.parametrize("kind", KINDS)
def test_a_clock_that_is_a_little_off_does_not_matter(everybody: Verifier, kind: str) -> None:
    everybody.check(token_of(kind, lifetime=-5))

    refused(everybody, token_of(kind, lifetime=-15))


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_fetched_once(everybody: Verifier, fetches: list[str], kind: str) -> None:
    everybody.check(token_of(kind))
    before = len(fetches)
    for _ in range(5):
        everybody.check(token_of(kind))

    assert len(fetches) == before


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_that_cannot_be_fetched_are_no_verdict(kind: str) -> None:
    nowhere = "http://127.0.0.1:9/certs"
    verifier = Verifier(trusted(**KINDS[kind][0]), certs_url=nowhere, chat_certs_url=nowhere)

    with pytest.raises(Transient, match="certificates_unavailable"):
        verifier.check(token_of(kind))
