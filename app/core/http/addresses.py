"""The address of the client of a request."""

import logging
from functools import cache

from flask import request

from app.core.settings import current_settings

logger = logging.getLogger(__name__)


def client_address() -> str:
    """Return the client's address, taken from X-Forwarded-For only as far as proxies are trusted."""
    if "HTTP_X_FORWARDED_FOR" in request.environ and not current_settings().trusted_proxies:
        _warn_of_proxy()
    return request.remote_addr or ""


@cache
def _warn_of_proxy() -> None:
    """Log, once in each process, that all clients may be limited as one."""
    logger.warning("X-Forwarded-For comes in and is not trusted: AGENT_FEEDBACK_TRUSTED_PROXIES is 0")
