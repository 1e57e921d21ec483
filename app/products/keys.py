"""Keys: generate, recognise and compare them."""

import hashlib
import hmac
import re
import secrets
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from app.core.purposes import PepperRing
from app.products.rules import KeyKind

# Not what follows the id: the owner of a key is told that its secret is mistyped or cut, and the digest decides anyway.
_PREFIX = re.compile(r"af_(?:live|company|read)_([0-9a-f]{32})(?![0-9A-Za-z])")


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


def read_id(text: str) -> str | None:
    """Return the id in a key of any kind, or None where the text does not begin as a key does."""
    match = _PREFIX.match(text)
    return match[1] if match else None


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
