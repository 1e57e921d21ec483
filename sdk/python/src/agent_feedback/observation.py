"""What the service may know of a request: a fixed list, and nothing else of it."""

import ipaddress
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

LONGEST_AGENT = 512
LONGEST_LANGUAGE = 256
LONGEST_ORIGIN = 300
LONGEST_PLATFORM = 80

_METHOD = re.compile(r"[A-Za-z]{1,16}\Z")
_MOBILE = re.compile(r"\?[01]\Z")
_HOST = re.compile(r"[a-z0-9.-]+\Z|[0-9a-f:.]+\Z")


def observe(environ: Mapping[str, Any]) -> dict[str, str]:
    """Return the observation of a request; what is missing, or not as it should be, is left out.

    The address is that of the peer as the host application left it: who trusts a proxy has told the host so.
    """
    found = {
        "clientIp": _address(environ.get("REMOTE_ADDR")),
        "method": _matching(_METHOD, environ.get("REQUEST_METHOD")),
        "userAgent": _text(environ.get("HTTP_USER_AGENT"), LONGEST_AGENT),
        "acceptLanguage": _text(environ.get("HTTP_ACCEPT_LANGUAGE"), LONGEST_LANGUAGE),
        "referrerOrigin": _origin(environ.get("HTTP_REFERER")),
        "secChUaPlatform": _text(environ.get("HTTP_SEC_CH_UA_PLATFORM"), LONGEST_PLATFORM),
        "secChUaMobile": _matching(_MOBILE, environ.get("HTTP_SEC_CH_UA_MOBILE")),
    }
    return {name: value for name, value in found.items() if value}


def _address(text: Any) -> str | None:
    try:
        # A zone names an interface of this machine.
        address = ipaddress.ip_address(str(text).partition("%")[0])
    except ValueError:
        return None
    # A socket for both families writes the older one so.
    return str(getattr(address, "ipv4_mapped", None) or address)


def _matching(rule: "re.Pattern[str]", text: Any) -> str | None:
    return text if isinstance(text, str) and rule.match(text) else None


def _text(text: Any, longest: int) -> str | None:
    return text.strip()[:longest] if isinstance(text, str) and text.isprintable() else None


def _origin(text: Any) -> str | None:
    """Return the origin of a URL: its path and query may tell anything."""
    try:
        parts = urlsplit(text if isinstance(text, str) else "")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not _HOST.match(host):
        return None
    origin = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}" + ("" if port is None else f":{port}")
    return origin if len(origin) <= LONGEST_ORIGIN else None
