"""The capability token `afr2_`: one interaction, two hours, signed with a key derived from the product key.

    afr2_<key id>.<payload>.<signature>

`payload` is base64url of compact JSON, `signature` is base64url of HMAC-SHA256 over everything before it. Both have
exactly one spelling: a token that is written in any other way is refused.
"""

import base64
import binascii
import hmac
import json
import re
import uuid
from typing import Annotated, Any, NamedTuple

import msgspec

PREFIX = "afr2_"
VERSION = 1
LIFETIME_S = 7200
CLOCK_SKEW_S = 300
"""A company's clock may be this far ahead of ours."""

MAX_TOKEN_LENGTH = 1024

_SHAPE = re.compile(r"afr2_([0-9a-f]{32})\.([A-Za-z0-9_-]{1,800})\.([A-Za-z0-9_-]{43})\Z")
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z"
_NONCE = r"[\x20-\x7e]{16,128}\Z"
SUBJECT_PATTERN = r"afsub1_[A-Za-z0-9_-]{43}\Z"


class BadCapability(Exception):
    """The token is not valid; the message is for our own tests, never for a caller."""


class ExpiredCapability(BadCapability):
    """The token has a valid signature and has expired."""


class Capability(NamedTuple):
    """A verified capability."""

    key_id: str
    interaction_id: uuid.UUID
    issued_at: int
    expires_at: int
    """Seconds since 1970, both."""
    subject: str | None
    revision: int | None


class UnverifiedToken(NamedTuple):
    """A well-formed token whose signature is not verified yet."""

    key_id: str
    signed_part: str
    payload: str
    signature: str


class _Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    v: int
    i: Annotated[str, msgspec.Meta(pattern="^" + _UUID)]
    iat: int
    exp: int
    n: Annotated[str, msgspec.Meta(pattern="^" + _NONCE)]
    s: Annotated[str, msgspec.Meta(pattern="^" + SUBJECT_PATTERN)] | None = None
    r: Annotated[int, msgspec.Meta(ge=0)] | None = None


_decoder = msgspec.json.Decoder(_Claims)


def read(token: str) -> UnverifiedToken:
    """Parse a token without verifying it, or raise `BadCapability`."""
    match = _SHAPE.match(token) if len(token) <= MAX_TOKEN_LENGTH else None
    if match is None:
        raise BadCapability("shape")
    return UnverifiedToken(match[1], token[: -len(match[3]) - 1], match[2], match[3])


def verify(token: UnverifiedToken, signing_secret: bytes, now: float) -> Capability:
    """Check signature, claims and lifetime, or raise `BadCapability`. `now` is in seconds since 1970."""
    expected = encode(hmac.digest(signing_secret, token.signed_part.encode(), "sha256"))
    if not hmac.compare_digest(expected, token.signature):
        raise BadCapability("signature")
    claims = _read_claims(_decode(token.payload))
    if claims.v != VERSION or (claims.r is not None and claims.s is None):
        raise BadCapability("claims")
    if not claims.iat < claims.exp <= claims.iat + LIFETIME_S:
        raise BadCapability("lifetime")
    if claims.iat > now + CLOCK_SKEW_S:
        raise BadCapability("time")
    if claims.exp <= now:
        raise ExpiredCapability("time")
    return Capability(token.key_id, uuid.UUID(claims.i), claims.iat, claims.exp, claims.s, claims.r)


def encode(content: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    """Decode base64url, refusing the spellings that Python forgives: padding and loose trailing bits."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        raise BadCapability("base64") from None
    if encode(raw) != text:
        raise BadCapability("base64")
    return raw


def _read_claims(raw: bytes) -> _Claims:
    try:
        claims = _decoder.decode(raw)
        # Written back alike means in our order and compact, so that nothing is repeated; else look closer.
        if msgspec.json.encode(claims) != raw:
            json.loads(raw, object_pairs_hook=_refuse_repetition)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise BadCapability("claims") from None
    return claims


def _refuse_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    claims = dict(pairs)
    # msgspec takes null for an optional claim; a claim that is there has a value.
    if len(claims) != len(pairs) or None in claims.values():
        raise BadCapability("claims")
    return claims


def sign(key_id: str, signing_secret: bytes, claims: dict[str, Any]) -> str:
    """Make a token, as an SDK does; the service itself mints only for its own playground and tests."""
    signed_part = f"{PREFIX}{key_id}.{encode(msgspec.json.encode(claims))}"
    return f"{signed_part}.{encode(hmac.digest(signing_secret, signed_part.encode(), 'sha256'))}"
