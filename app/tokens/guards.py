"""The guards of Bearer tokens: one for each credential.

An unknown, a wrong and a revoked credential get the same error.
"""

import re
import time
from collections.abc import Sequence

from flask import g, request

from app.core import clock
from app.core.errors import InvalidBearerToken
from app.core.http.limits import require_attempts_left
from app.core.http.mounts import Guard
from app.core.limits.limiter import limiter
from app.core.pepper import pepper_ring
from app.products import keys
from app.products.key_cache import CachedKey, CallerEnvironment, key_cache
from app.products.rules import KeyKind
from app.tokens import capability
from app.tokens.capability import BadCapability, Capability, ExpiredCapability
from config.limits import LimitName

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([!-~]+)\Z")


class InvalidProductKey(InvalidBearerToken):
    """No valid product key."""

    sentence = "This endpoint takes a product key, af_live_…, as a Bearer token from the company's backend."


class InvalidCompanyKey(InvalidBearerToken):
    """No valid company key."""

    sentence = "This endpoint takes a company API key, af_company_…, as a Bearer token from the company's backend."


class InvalidReadKey(InvalidBearerToken):
    """No valid read key."""

    sentence = "This endpoint takes a read key, af_read_…, as a Bearer token from the company's own systems."


class InvalidCapability(InvalidBearerToken):
    """No valid capability."""

    sentence = "This endpoint takes a capability, afr2_…, that the response's envelope carries."


class CapabilityExpired(InvalidCapability):
    """The capability has a valid signature and has expired."""

    code = "capability_expired"
    sentence = "This capability, afr2_…, has expired; feedback about this response can no longer be sent."


def current_environment() -> CallerEnvironment:
    """Return the environment that the caller's credential belongs to."""
    environment: CallerEnvironment = g.environment
    return environment


def find_environment() -> CallerEnvironment | None:
    """Return the environment of the caller, or None where its credential was not valid."""
    environment: CallerEnvironment | None = g.get("environment")
    return environment


def current_capability() -> Capability:
    """Return the caller's capability."""
    caller_capability: Capability = g.capability
    return caller_capability


def current_token() -> str:
    """Return the text of that capability, for an answer that hands it back."""
    token: str = g.token
    return token


def current_key_id() -> str:
    """Return the id of the caller's company key."""
    key_id: str = g.key_id
    return key_id


def bearer(error: type[InvalidBearerToken]) -> str:
    """Return the Bearer token of the request, or raise `error`."""
    match = _BEARER.match(request.headers.get("Authorization", ""))
    if match is None:
        raise error
    return match[1]


def _authenticate_product_key() -> None:
    g.environment = _verified_key((KeyKind.PRODUCT,), InvalidProductKey).environment


def _authenticate_company_key() -> None:
    key = _verified_key((KeyKind.COMPANY, KeyKind.PRODUCT), InvalidCompanyKey)
    if key.kind is not KeyKind.COMPANY and not key.has_company_right:
        raise InvalidCompanyKey
    context = g._get_current_object()
    context.environment, context.key_id = key.environment, key.id


def _authenticate_read_key() -> None:
    g.environment = _verified_key((KeyKind.READ,), InvalidReadKey, LimitName.READ_KEY).environment


def _authenticate_capability() -> None:
    try:
        token = bearer(InvalidCapability)
        unverified_token = capability.read(token)
        key = find_key(unverified_token.key_id)
        if key is None or key.signing_secret is None or not key.is_valid(clock.now()):
            raise InvalidCapability
        verified_capability = capability.verify(unverified_token, key.signing_secret, time.time())
    except ExpiredCapability:
        raise CapabilityExpired from None
    except BadCapability:
        raise InvalidCapability from None
    environment = key.environment
    limiter().count_request(
        (LimitName.CAPABILITY, (environment.id, verified_capability.interaction_id)),
        (LimitName.WORKSPACE, environment.workspace_id),
    )
    context = g._get_current_object()
    context.capability, context.token, context.environment = verified_capability, token, environment


def find_key(key_id: str) -> CachedKey | None:
    """Return a key by its id, or None; raise `RateLimited` rather than look up yet another unknown id."""
    cache = key_cache()
    if not cache.has_seen(key_id):
        require_attempts_left()
    return cache.find(key_id)


def _verified_key(
    kinds: Sequence[KeyKind], error: type[InvalidBearerToken], limit: LimitName = LimitName.KEY
) -> CachedKey:
    """Return the caller's key, whose use is recorded and counted, or raise `error`."""
    text, cache, ring = bearer(error), key_cache(), pepper_ring()
    key_id = keys.read_id(text)
    key = find_key(key_id) if key_id else None
    if key is None:
        raise error
    is_authentic = keys.matches_digest(key.digest, text, ring) and key.is_valid(clock.now())
    if not is_authentic or key.kind not in kinds:
        # A refusal of a valid product key says that its text is another, so none is recorded of its own text.
        if not is_authentic or key.kind is not KeyKind.PRODUCT:
            cache.record_refusal(key)
        raise error
    limiter().count_request((limit, key.id), (LimitName.WORKSPACE, key.environment.workspace_id))
    cache.renew_digest(key, text, ring.newest)
    cache.record_use(key)
    return key


PRODUCT_KEY = Guard(
    "productKey", _authenticate_product_key, "A product key, `af_live_…`. It stays on the company's servers."
)
COMPANY_KEY = Guard(
    "companyKey", _authenticate_company_key, "A company API key, `af_company_…`. It stays on the company's servers."
)
READ_KEY = Guard(
    "readKey", _authenticate_read_key, "A read key, `af_read_…`, of one environment. It can read and change nothing."
)
CAPABILITY = Guard(
    "capability", _authenticate_capability, "The capability of one interaction, `afr2_…`, from its envelope."
)
PUBLIC = Guard("public", lambda: None)
"""Needs no credential."""
