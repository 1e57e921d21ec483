"""The guard of the request handle `aqr1_`."""

from flask import g

from app.core import clock
from app.core.errors import InvalidBearerToken
from app.core.http.mounts import Guard
from app.core.limits.limiter import limiter
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.enrichment.queries import FIND_REQUEST, StoredRequest
from app.tokens import handle
from app.tokens.guards import bearer, find_key
from app.tokens.handle import BadHandle
from config.limits import LimitName


class InvalidHandle(InvalidBearerToken):
    """No valid handle."""

    sentence = "This endpoint takes a request handle, aqr1_…, that the action in the product's response carries."


class HandleExpired(InvalidHandle):
    """The handle has a valid signature, but its request has expired or was removed."""

    code = "handle_expired"
    sentence = "This request handle, aqr1_…, has expired; use the one of a newer product response."


def current_request() -> StoredRequest:
    """Return the request that the caller's handle is for, as it was when the handle was checked."""
    stored_request: StoredRequest = g.stored_request
    return stored_request


def _authenticate_handle() -> None:
    try:
        request_id = handle.read(bearer(InvalidHandle), pepper_ring().derive_all(Purpose.REQUEST_HANDLE))
    except BadHandle:
        raise InvalidHandle from None
    limiter().count_request((LimitName.CAPABILITY, request_id))
    stored_request = FIND_REQUEST.first(request_id=request_id)
    if stored_request is None:
        # Only the service signs handles, so there was such a request; it leaves the table when it has expired.
        raise HandleExpired
    key = find_key(stored_request.key_id)
    # A key that was rotated has an end and still answers for its handles; one that was revoked does not.
    if key is None or key.revoked_at is not None:
        raise InvalidHandle
    if stored_request.expires_at <= clock.now():
        raise HandleExpired
    limiter().count_request((LimitName.WORKSPACE, key.environment.workspace_id))
    context = g._get_current_object()
    context.stored_request, context.environment = stored_request, key.environment


REQUEST_HANDLE = Guard("requestHandle", _authenticate_handle, "The handle of one request, `aqr1_…`, from its action.")
