"""Keys: generate, recognise and compare them."""

import hashlib
import hmac
import re
import secrets
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.core.purposes import PepperRing
from app.products.rules import KeyKind

# The secret part of a product key may hold any visible character; the contract only gives its minimum length.
_PATTERNS = {
    KeyKind.PRODUCT: re.compile(r"af_live_([0-9a-f]{32})_[!-~]{20,200}\Z"),
    KeyKind.COMPANY: re.compile(r"af_company_([0-9a-f]{32})_[A-Za-z0-9_-]{43}\Z"),
    KeyKind.READ: re.compile(r"af_read_([0-9a-f]{32})_[A-Za-z0-9_-]{43}\Z"),
}


@dataclass(frozen=True, slots=True)
class GeneratedKey:
    """A new key: the text that is shown once, and its id."""

    id: str
    text: str


def mint(kind: KeyKind, environment_id: uuid.UUID) -> GeneratedKey:
    """Generate a key; a product key carries its environment as the scope of consent subjects."""
    key_id, secret = secrets.token_hex(16), secrets.token_urlsafe(32)
    if kind is KeyKind.PRODUCT:
        return GeneratedKey(key_id, f"af_live_{key_id}_{environment_id.hex}_{secret}")
    return GeneratedKey(key_id, f"af_{kind}_{key_id}_{secret}")


def read_id(text: str, kinds: Sequence[KeyKind]) -> str | None:
    """Return the id inside a key of one of these kinds, or None if the text is no such key."""
    for kind in kinds:
        if match := _PATTERNS[kind].match(text):
            return match[1]
    return None


def matches_digest(digest: bytes, text: str, ring: PepperRing) -> bool:
    """Tell whether a presented key has a stored digest under any pepper; each comparison takes constant time."""
    if hmac.compare_digest(digest, ring.newest.digest_key(text)):
        return True
    return any(hmac.compare_digest(digest, candidate) for candidate in _other_digests(text, ring))


def _other_digests(text: str, ring: PepperRing) -> Iterator[bytes]:
    # A key whose digest was renewed while its text was not at hand is stored by its signing secret.
    secret = signing_secret(text)
    yield from (pepper.digest_key(text) for pepper in ring.peppers[1:])
    yield from (pepper.digest_signing_secret(secret) for pepper in ring.peppers)


def signing_secret(text: str) -> bytes:
    """Return the key under which capabilities are signed: the raw SHA-256 of the full product key."""
    return hashlib.sha256(text.encode()).digest()
