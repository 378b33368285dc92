"""Checks that a request comes from Google Chat, or from the push subscription on the topic of Chat's events.

The kind of token depends on the Chat app's settings (developers.google.com, "Verify requests from Chat"):

    classic, project number   Chat signs it itself, with its own issuer and certificates; it has no e-mail
    classic, endpoint's URL   a Google OIDC token of chat@system.gserviceaccount.com
    add-on                    the same of service-NUMBER@gcp-sa-gsuiteaddons.iam.gserviceaccount.com
    Pub/Sub push              the same of the service account that the subscription uses

`verify_token` checks signature, expiry and audience. This module checks issuer, e-mail and `email_verified`.
It accepts only the pairs of audience and identity that the settings name. An audience alone proves nothing,
and a pattern of e-mail addresses would accept every add-on.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import requests
from cachecontrol import CacheControl
from google.auth import jwt
from google.auth.exceptions import TransportError
from google.auth.transport.requests import Request
from google.oauth2 import id_token

from shared.runtime.errors import Transient

Caller = Literal["chat", "pubsub"]
#: The issuer of the tokens that Chat signs itself, and the e-mail in Google's tokens for a classic app.
CHAT = "chat@system.gserviceaccount.com"
GOOGLE = ("accounts.google.com", "https://accounts.google.com")
#: The largest difference in seconds between Google's clock and ours.
CLOCK_SKEW = 10
#: Timeout in seconds for fetching certificates that are not in the cache.
CERTS_TIMEOUT = 5


class Unauthorized(Exception):
    """The request does not prove who sent it. The text says what is wrong."""


@dataclass(frozen=True)
class Trusted:
    """An accepted caller: `email` with `audience` in a Google token. None: Chat itself signs the token."""

    caller: Caller
    audience: str
    email: str | None


class Verifier:
    """Checks bearer tokens. It caches certificates as long as their headers allow."""

    def __init__(self, trusted: Iterable[Trusted], *, certs_url: str, chat_certs_url: str) -> None:
        self._trusted = tuple(trusted)
        self._certs_url = certs_url
        self._chat_certs_url = chat_certs_url
        self._transport: Any = partial(
            Request(session=CacheControl(requests.Session())), timeout=CERTS_TIMEOUT
        )

    def check(self, authorization: str | None) -> Caller:
        """Return the caller. Raises Unauthorized, or Transient when the certificates cannot be fetched."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthorized("no bearer token")
        # The issuer in the token is not proved yet. It only chooses the keys for checking the signature.
        if _unproven_issuer(token) == CHAT:
            return self._signed_by_chat(token)
        return self._signed_by_google(token)

    def _signed_by_chat(self, token: str) -> Caller:
        expected = {each.audience: each.caller for each in self._trusted if each.email is None}
        claims = self._claims(token, list(expected), self._chat_certs_url)
        if claims.get("iss") != CHAT:
            raise Unauthorized("wrong issuer")
        return expected[claims["aud"]]

    def _signed_by_google(self, token: str) -> Caller:
        expected = {(each.audience, each.email): each.caller for each in self._trusted if each.email}
        claims = self._claims(token, [audience for audience, _ in expected], self._certs_url)
        if claims.get("iss") not in GOOGLE:
            raise Unauthorized("wrong issuer")
        caller = expected.get((claims["aud"], str(claims.get("email"))))
        if caller is None or claims.get("email_verified") is not True:
            raise Unauthorized("wrong identity")
        return caller

    def _claims(self, token: str, audiences: list[str], certs_url: str) -> Any:
        if not audiences:
            raise Unauthorized("wrong issuer")
        try:
            return id_token.verify_token(
                token,
                self._transport,
                audience=audiences,
                certs_url=certs_url,
                clock_skew_in_seconds=CLOCK_SKEW,
            )
        except TransportError as error:
            raise Transient("certificates_unavailable", type(error).__name__) from error
        except Exception as error:  # a forged token can make the library raise anything
            raise Unauthorized(f"token refused: {type(error).__name__}") from error


def _unproven_issuer(token: str) -> object:
    try:
        return jwt.decode(token, verify=False).get("iss")
    except Exception as error:
        raise Unauthorized(f"token refused: {type(error).__name__}") from error
