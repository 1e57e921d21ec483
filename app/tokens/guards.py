"""Who may come in: one guard for each credential.

Every refusal is the same sentence, whether a key is unknown, wrong, expired or revoked.
"""

import re
import time
from collections.abc import Sequence

from flask import g, request

from app.core import clock
from app.core.doors import Guard
from app.core.errors import Unauthorized
from app.products import keys
from app.products.known_keys import CallingEnvironment, KnownKey, known_keys
from app.products.rules import KeyKind
from app.tokens import capability
from app.tokens.capability import BadCapability, Capability

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([!-~]+)\Z")


def current_environment() -> CallingEnvironment:
    """Return the environment that the caller was admitted for."""
    environment: CallingEnvironment = g.environment
    return environment


def current_capability() -> Capability:
    """Return the capability that the caller presented."""
    found: Capability = g.capability
    return found


def current_token() -> str:
    """Return the text of that capability, for an answer that hands it back."""
    token: str = g.token
    return token


def current_key_id() -> str:
    """Return the id of the key that the caller presented."""
    key_id: str = g.key_id
    return key_id


def bearer() -> str:
    """Return the credential of the request, or raise."""
    match = _BEARER.match(request.headers.get("Authorization", ""))
    if match is None:
        raise Unauthorized
    return match[1]


def _admit_product_key() -> None:
    g.environment = _key((KeyKind.PRODUCT,)).environment


def _admit_company_key() -> None:
    key = _key((KeyKind.COMPANY, KeyKind.PRODUCT))
    if key.kind is not KeyKind.COMPANY and not key.has_company_right:
        raise Unauthorized
    state = g._get_current_object()
    state.environment, state.key_id = key.environment, key.id


def _admit_capability() -> None:
    try:
        token = bearer()
        presented = capability.read(token)
        key = known_keys().find(presented.key_id)
        if key is None or key.signing_secret is None or not key.is_valid(clock.now()):
            raise Unauthorized
        verified = capability.verify(presented, key.signing_secret, time.time())
    except BadCapability:
        raise Unauthorized from None
    state = g._get_current_object()
    state.capability, state.token, state.environment = verified, token, key.environment


def _key(kinds: Sequence[KeyKind]) -> KnownKey:
    text, ring = bearer(), known_keys()
    key_id = keys.read_id(text, kinds)
    key = ring.find(key_id) if key_id else None
    if key is None or key.kind not in kinds or not keys.is_same(key.digest, text, ring.pepper):
        raise Unauthorized
    if not key.is_valid(clock.now()):
        raise Unauthorized
    ring.note_use(key)
    return key


PRODUCT_KEY = Guard("productKey", _admit_product_key, "A product key, `af_live_…`. It stays on the company's servers.")
COMPANY_KEY = Guard(
    "companyKey", _admit_company_key, "A company API key, `af_company_…`. It stays on the company's servers."
)
CAPABILITY = Guard("capability", _admit_capability, "The capability of one interaction, `afr2_…`, from its envelope.")
OPEN_TO_ALL = Guard("openToAll", lambda: None)
