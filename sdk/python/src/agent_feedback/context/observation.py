"""The observation of an HTTP request: the fixed list of members that are sent to the service."""

import ipaddress
import re
from typing import Any
from urllib.parse import urlsplit

from agent_feedback.request import Request

MAX_USER_AGENT_LENGTH = 512
MAX_LANGUAGE_LENGTH = 256
MAX_ORIGIN_LENGTH = 300
MAX_PLATFORM_LENGTH = 80

_METHOD = re.compile(r"[A-Za-z]{1,16}\Z")
_MOBILE = re.compile(r"\?[01]\Z")
_HOST = re.compile(r"[a-z0-9.-]+\Z|[0-9a-f:.]+\Z")


def observe(request: Request) -> dict[str, str]:
    """Return the observation of a request, without members that are missing or malformed.

    The address is that of the peer: a host application behind a proxy sets it from the headers that it trusts.
    """
    members = {
        "clientIp": _address(request.client_address),
        "method": _if_matching(_METHOD, request.method),
        "userAgent": _text(request.header("user-agent"), MAX_USER_AGENT_LENGTH),
        "acceptLanguage": _text(request.header("accept-language"), MAX_LANGUAGE_LENGTH),
        "referrerOrigin": _origin(request.header("referer")),
        "secChUaPlatform": _text(request.header("sec-ch-ua-platform"), MAX_PLATFORM_LENGTH),
        "secChUaMobile": _if_matching(_MOBILE, request.header("sec-ch-ua-mobile")),
    }
    return {name: value for name, value in members.items() if value}


def _address(text: Any) -> str | None:
    try:
        # The zone of an IPv6 address names an interface of this machine.
        address = ipaddress.ip_address(str(text).partition("%")[0])
    except ValueError:
        return None
    # A socket for both families writes IPv4 addresses as ::ffff:192.0.2.1.
    return str(getattr(address, "ipv4_mapped", None) or address)


def _if_matching(pattern: "re.Pattern[str]", text: Any) -> str | None:
    return text if isinstance(text, str) and pattern.match(text) else None


def _text(text: Any, max_length: int) -> str | None:
    return text.strip()[:max_length] if isinstance(text, str) and text.isprintable() else None


def _origin(text: Any) -> str | None:
    """Return the origin of a URL; its path and query may hold personal data."""
    try:
        parts = urlsplit(text if isinstance(text, str) else "")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not _HOST.match(host):
        return None
    origin = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}" + ("" if port is None else f":{port}")
    return origin if len(origin) <= MAX_ORIGIN_LENGTH else None
