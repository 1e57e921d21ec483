"""The guard of the request handle `aqr1_`."""

import uuid
from dataclasses import dataclass

from flask import g

from app.core import clock
from app.core.database import HotStatement
from app.core.doors import Guard
from app.core.errors import Unauthorized
from app.products.known_keys import known_keys
from app.tokens import handle
from app.tokens.guards import bearer
from app.tokens.handle import BadHandle

_FIND = HotStatement(
    "find_enrichment_request",
    ["uuid", "timestamptz"],
    "SELECT environment_id, interaction_id, key_id FROM enrichment_requests WHERE id = $1 AND expires_at > $2",
)


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Which request a valid handle is for."""

    environment_id: uuid.UUID
    interaction_id: uuid.UUID


def current_request() -> OpenRequest:
    """Return the request that the caller's handle is for."""
    found: OpenRequest = g.open_request
    return found


def _admit_handle() -> None:
    ring = known_keys()
    try:
        request_id = handle.read(bearer(), handle.derive_key(ring.pepper))
    except BadHandle:
        raise Unauthorized from None
    rows = _FIND.run(request_id, clock.now())
    key = ring.find(rows[0][2]) if rows else None
    # A key that was rotated has an end and still answers for its handles; one that was revoked does not.
    if key is None or key.revoked_at is not None:
        raise Unauthorized
    state = g._get_current_object()
    state.open_request, state.environment = OpenRequest(*rows[0][:2]), key.environment


REQUEST_HANDLE = Guard("requestHandle", _admit_handle, "The handle of one request, `aqr1_…`, from its action.")
