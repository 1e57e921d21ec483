"""The limits of a client address, before and while its requests are authenticated."""

from app.core.errors import Unauthorized
from app.core.http.addresses import client_address
from app.core.http.mounts import Mount
from app.core.limits.limiter import limiter
from app.core.limits.rules import address_prefix
from config.limits import LimitName


def count_address() -> None:
    """Count a request of its client's address, or raise `RateLimited`."""
    limiter().count_request((LimitName.ADDRESS, address_prefix(client_address())))


def authenticate(mount: Mount) -> None:
    """Authenticate a request by its mount's guard, and count it for its client's address where that fails."""
    try:
        mount.guard.authenticate()
    except Unauthorized:
        count_failed_attempt()
        raise


def count_failed_attempt() -> None:
    """Count a credential that was not valid for its client's address, or raise `RateLimited`."""
    limiter().count_request((LimitName.UNAUTHENTICATED, address_prefix(client_address())))


def require_attempts_left() -> None:
    """Raise `RateLimited` if the client's address has failed to authenticate too often to look a credential up."""
    limiter().require_requests_left(LimitName.UNAUTHENTICATED, address_prefix(client_address()))
