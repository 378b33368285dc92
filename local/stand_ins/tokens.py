"""Tokens like Google's, signed with our own key, and the certificates to check them."""

import datetime
import time
from collections.abc import Mapping
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from google.auth import crypt, jwt

from local.places import CHAT_IDENTITY

GOOGLE_ISSUER = "https://accounts.google.com"
#: The identity that calls classic Chat apps (developers.google.com, "Verify requests from Chat").
CHAT_EMAIL = CHAT_IDENTITY


class Signer:
    """Mints OIDC identity tokens. Every instance has its own key and certificate."""

    def __init__(self, key_id: str = "local-1") -> None:
        self.key_id = key_id
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        self._signer = crypt.RSASigner.from_string(pem, key_id)

    def mint(
        self,
        *,
        audience: str,
        email: str | None = CHAT_EMAIL,
        issuer: str = GOOGLE_ISSUER,
        lifetime: float = 3600,
        extra: Mapping[str, Any] | None = None,
    ) -> str:
        """A signed JWT. A negative `lifetime` (seconds) gives an expired one.

        Without an e-mail it is like the tokens that a service account signs for itself.
        """
        now = int(time.time())
        claims = {
            "iss": issuer,
            "aud": audience,
            **({} if email is None else {"azp": email, "sub": email, "email": email, "email_verified": True}),
            "iat": now + min(0, int(lifetime)) - 1,
            "exp": now + int(lifetime),
            **(extra or {}),
        }
        token: bytes = jwt.encode(self._signer, claims)
        return token.decode("ascii")

    def certificates(self) -> dict[str, str]:
        """Key id → PEM certificate, as at https://www.googleapis.com/oauth2/v1/certs."""
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "threadwise local")])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=30))
            .sign(self._key, hashes.SHA256())
        )
        return {self.key_id: certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")}
