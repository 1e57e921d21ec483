"""The request handle `aqr1_`: one request for an answer, for as long as the request is open.

    aqr1_<request id, 32 hex>.<base64url of HMAC-SHA256 over everything before the dot>

Only the service can make one and only the service reads it; the database never holds it.
"""

import hmac
import re
import uuid
from collections.abc import Iterable

from app.tokens.capability import encode

PREFIX = "aqr1_"

_SHAPE = re.compile(r"(aqr1_([0-9a-f]{32}))\.([A-Za-z0-9_-]{43})\Z")


class BadHandle(Exception):
    """The handle is not valid; the message is for our own tests, never for a caller."""


def mint(request_id: uuid.UUID, key: bytes) -> str:
    """Make the handle of a request; the same request always has the same one."""
    signed_part = PREFIX + request_id.hex
    return f"{signed_part}.{encode(hmac.digest(key, signed_part.encode(), 'sha256'))}"


def read(token: str, keys: Iterable[bytes]) -> uuid.UUID:
    """Return the request of a handle that one of these keys has signed, or raise `BadHandle`."""
    match = _SHAPE.match(token)
    if match is None:
        raise BadHandle("shape")
    signatures = (encode(hmac.digest(key, match[1].encode(), "sha256")) for key in keys)
    if not any(hmac.compare_digest(signature, match[3]) for signature in signatures):
        raise BadHandle("signature")
    return uuid.UUID(match[2])
