"""The guard of the request handle `aqr1_`."""

import uuid
from datetime import datetime
from typing import NamedTuple

from flask import g

from app.core import clock
from app.core.database import PreparedStatement
from app.core.errors import InvalidBearerToken
from app.core.http.mounts import Guard
from app.core.limits.limiter import limiter
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.tokens import handle
from app.tokens.guards import bearer, find_key
from app.tokens.handle import BadHandle
from config.limits import LimitName


class OpenRequest(NamedTuple):
    """The request that a valid handle names."""

    environment_id: uuid.UUID
    interaction_id: uuid.UUID
    key_id: str
    expires_at: datetime


FIND_REQUEST = PreparedStatement(
    "find_request",
    "SELECT environment_id, interaction_id, key_id, expires_at FROM enrichment_requests WHERE id = :request_id::uuid",
    row=OpenRequest,
)


class InvalidHandle(InvalidBearerToken):
    """No valid handle."""

    sentence = "This endpoint takes a request handle, aqr1_…, that the action in the product's response carries."


class HandleExpired(InvalidHandle):
    """The handle has a valid signature, but its request has expired or was removed."""

    code = "handle_expired"
    sentence = "This request handle, aqr1_…, has expired; use the one of a newer product response."


def current_request() -> OpenRequest:
    """Return the request that the caller's handle is for."""
    open_request: OpenRequest = g.open_request
    return open_request


def _authenticate_handle() -> None:
    try:
        request_id = handle.read(bearer(InvalidHandle), pepper_ring().derive_all(Purpose.REQUEST_HANDLE))
    except BadHandle:
        raise InvalidHandle from None
    limiter().count_request((LimitName.CAPABILITY, request_id))
    open_request = FIND_REQUEST.first(request_id=request_id)
    if open_request is None:
        # Only the service signs handles, so there was such a request; it leaves the table when it has expired.
        raise HandleExpired
    key = find_key(open_request.key_id)
    # A key that was rotated has an end and still answers for its handles; one that was revoked does not.
    if key is None or key.revoked_at is not None:
        raise InvalidHandle
    if open_request.expires_at <= clock.now():
        raise HandleExpired
    limiter().count_request((LimitName.WORKSPACE, key.environment.workspace_id))
    context = g._get_current_object()
    context.open_request, context.environment = open_request, key.environment


REQUEST_HANDLE = Guard("requestHandle", _authenticate_handle, "The handle of one request, `aqr1_…`, from its action.")
