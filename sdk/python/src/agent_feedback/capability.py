"""Signing capabilities: one interaction, two hours, no call to the service."""

import base64
import hashlib
import hmac
import json
import os
import re
from typing import Any

LIFETIME_S = 7200
NONCE_BYTES = 18

_KEY = re.compile(r"af_live_([0-9a-f]{32})_([!-~]{20,200})\Z")
_SCOPED = re.compile(r"([0-9a-f]{32})_")


class ProductKey:
    """A product key that does not show itself when printed."""

    __slots__ = ("_signing_secret", "_text", "id", "scope")

    def __init__(self, text: str) -> None:
        match = _KEY.match(text)
        if match is None:
            raise ValueError("a product key looks like af_live_<32 hex digits>_<secret>")
        self.id = match[1]
        scoped = _SCOPED.match(match[2])
        self.scope = scoped[1] if scoped else self.id
        self._text = text
        self._signing_secret = hashlib.sha256(text.encode()).digest()

    def reveal(self) -> str:
        """Return the text."""
        return self._text

    def sign(self, claims: dict[str, Any]) -> str:
        """Return the capability for these claims, in their order."""
        payload = encode(json.dumps(claims, separators=(",", ":")).encode())
        signed = f"afr2_{self.id}.{payload}"
        return f"{signed}.{encode(hmac.new(self._signing_secret, signed.encode(), hashlib.sha256).digest())}"

    def __repr__(self) -> str:
        return f"ProductKey(af_live_{self.id}_…)"

    __str__ = __repr__


def mint(
    key: ProductKey,
    interaction_id: str,
    issued_at: int,
    *,
    subject: str | None = None,
    revision: int | None = None,
) -> str:
    """Return the capability of one interaction; `issued_at` is in seconds since 1970."""
    claims: dict[str, Any] = {
        "v": 1,
        "i": interaction_id,
        "iat": issued_at,
        "exp": issued_at + LIFETIME_S,
        "n": encode(os.urandom(NONCE_BYTES)),
    }
    if subject is not None:
        claims["s"] = subject
        if revision is not None:
            claims["r"] = revision
    return key.sign(claims)


def consent_subject(scope: str, customer_ref: str) -> str:
    """Return the opaque name under which the service remembers a customer's choice."""
    secret = hashlib.sha256(f"service-consent-scope:{scope.lower()}".encode()).digest()
    digest = hmac.new(secret, f"customer-ref:{customer_ref.strip()}".encode(), hashlib.sha256).digest()
    return f"afsub1_{encode(digest)}"


def encode(raw: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
