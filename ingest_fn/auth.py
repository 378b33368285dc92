"""Proof that a request comes from Google Chat (developers.google.com, "Verify requests from Chat").

A Chat app whose authentication audience is its endpoint's URL is called with a Google OIDC identity token.
`verify_token` checks signature, expiry and audience; issuer, e-mail and `email_verified` are ours to check.
"""

from functools import partial
from typing import Any

import requests
from cachecontrol import CacheControl
from google.auth.exceptions import TransportError
from google.auth.transport.requests import Request
from google.oauth2 import id_token

from shared.errors import Transient

ISSUERS = {"accounts.google.com", "https://accounts.google.com"}
#: Seconds that Google's clock and ours may differ.
CLOCK_SKEW = 10
#: Seconds to fetch the certificates in, when they are not in the cache.
CERTS_TIMEOUT = 5


class Unauthorized(Exception):
    """The request does not prove that it comes from our Chat app; the text says what is wrong."""


class Verifier:
    """Checks the bearer tokens of one Chat app; certificates are cached as long as their headers allow."""

    def __init__(self, *, audience: str, email: str, certs_url: str) -> None:
        self._audience = audience
        self._email = email
        self._certs_url = certs_url
        self._transport: Any = partial(
            Request(session=CacheControl(requests.Session())), timeout=CERTS_TIMEOUT
        )

    def check(self, authorization: str | None) -> None:
        """Raises Unauthorized, or Transient when the certificates cannot be fetched."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthorized("no bearer token")
        claims = self._claims(token)
        if claims.get("iss") not in ISSUERS:
            raise Unauthorized("wrong issuer")
        if claims.get("email") != self._email or claims.get("email_verified") is not True:
            raise Unauthorized("wrong identity")

    def _claims(self, token: str) -> Any:
        try:
            return id_token.verify_token(
                token,
                self._transport,
                audience=self._audience,
                certs_url=self._certs_url,
                clock_skew_in_seconds=CLOCK_SKEW,
            )
        except TransportError as error:
            raise Transient("certificates_unavailable", type(error).__name__) from error
        except Exception as error:  # whatever a forged token makes the library stumble over
            raise Unauthorized(f"token refused: {type(error).__name__}") from error
