"""All keys that are derived from a pepper, and all digests that are made with it, in one file for audits.

A derived key is HMAC-SHA256 of `<purpose>` or `<purpose>:<id>` under the pepper, so no key of one purpose, and of no
other id, is of use for another.
"""

import hmac
from collections.abc import Sequence
from enum import StrEnum


class Purpose(StrEnum):
    """What a derived key is for."""

    REQUEST_HANDLE = "request-handle"
    """Signs `aqr1_` handles."""
    CUSTOMER_REFERENCES = "customer-references"
    """Digests a customer's references; of one product."""
    ENRICHMENT_REQUEST = "enrichment-request"
    """Digests the members that a retry of a request must repeat; of one interaction of an environment."""
    ENRICHMENT_ANSWER = "enrichment-answer"
    """Digests the members of an answer, for its retry; of one request."""
    EVIDENCE_IDS = "evidence-ids"
    """Digests the source and event ids of evidence; of one environment."""
    SIGN_IN_THROTTLE = "sign-in-throttle"
    """Digests the e-mail addresses and networks that attempts to sign in are counted by."""
    RATE_LIMITS = "rate-limits"
    """Digests whose requests are counted, as addresses and ids of capabilities."""
    FORM_TOKEN = "form-token"
    """Signs the token that every form of the dashboard carries."""
    FORM_COOKIE = "form-cookie"
    """Signs the cookie of a form that was opened before signing in."""
    SIGN_IN_COOKIE = "sign-in-cookie"
    """Signs the cookies that hold a sign-in between two of its steps."""
    PEPPER_ID = "pepper-id"
    """Names the pepper beside the digests that were made with it."""


PEPPER_ID_BYTES = 8


class Pepper:
    """A secret that keys are derived from."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.id = self.derive(Purpose.PEPPER_ID)[:PEPPER_ID_BYTES]
        """Names the pepper where it was used; tells nothing about it."""

    def derive(self, purpose: Purpose, id_: object = None) -> bytes:
        """Return the key of a purpose, or of a purpose and an id: 32 bytes."""
        message = str(purpose) if id_ is None else f"{purpose}:{id_}"
        return hmac.digest(self._secret, message.encode(), "sha256")

    def digest_key(self, text: str) -> bytes:
        """Return the digest by which a product, company or read key is recognised: 32 bytes.

        Its messages begin with `af_`, which no purpose does.
        """
        return hmac.digest(self._secret, text.encode(), "sha256")

    def digest_signing_secret(self, secret: bytes) -> bytes:
        """Return the digest by which a product key is recognised that was renewed without its text: 32 bytes.

        Its messages begin with `af_secret:`, which no key does.
        """
        return hmac.digest(self._secret, b"af_secret:" + secret, "sha256")


class PepperRing:
    """The peppers of a copy of the service, newest first: the newest signs and digests, every one recognises."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self.peppers = tuple(map(Pepper, secrets))
        self.newest = self.peppers[0]
        self.has_older = len(self.peppers) > 1

    def derive_all(self, purpose: Purpose, id_: object = None) -> list[bytes]:
        """Return the key of a purpose, or of a purpose and an id, under every pepper, that of the newest first."""
        return [pepper.derive(purpose, id_) for pepper in self.peppers]
