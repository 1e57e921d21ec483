"""Decide which responses carry an envelope."""

import re
from collections.abc import Iterable, Mapping, Sequence

from agent_feedback import protocol_files

ALWAYS_EXCLUDED: Sequence[str] = protocol_files.read("contract.json")["exclusions"]

_JSON = re.compile(r"application/(?:json|[\w.-]+\+json)\s*(?:;\s*charset\s*=\s*\"?utf-?8\"?\s*)?\Z", re.IGNORECASE)
_HTML = re.compile(
    r"text/html\s*(?:;\s*charset\s*=\s*\"?(?:utf-?8|us-ascii|iso-8859-1|windows-1252)\"?\s*)?\Z", re.IGNORECASE
)
_NOTHING = "(?!)"
"""The regular expression that matches no text, not even an empty one."""
_PARTIAL = (204, 205, 206)
# The headers that a CDN obeys before Cache-Control.
_CDN_POLICIES = frozenset({"cdn-cache-control", "surrogate-control"})
_CACHE_POLICIES = _CDN_POLICIES | {"cache-control", "expires"}


class PathRules:
    """Path patterns: `*` is one segment, `**` is any depth."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = _compile(include)
        self._exclude = _compile([*ALWAYS_EXCLUDED, *exclude])

    def covers(self, path: str) -> bool:
        """Tell whether a path is included and not excluded."""
        return bool(self._include.match(path)) and not self._exclude.match(path)


def _compile(patterns: Sequence[str]) -> "re.Pattern[str]":
    """Return one expression for all patterns, since every request of the product is matched."""
    alternatives = "|".join(_as_expression(pattern) for pattern in patterns)
    return re.compile(rf"(?:{alternatives or _NOTHING})\Z", re.DOTALL)


def _as_expression(pattern: str) -> str:
    parts = re.split(r"(\*\*|\*)", pattern)
    wildcards = {"**": ".*", "*": "[^/]*"}
    return "".join(wildcards.get(part, re.escape(part)) for part in parts)


def index_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by their lower-cased names; the values of a repeated one are joined with commas."""
    index: dict[str, str] = {}
    for header, value in headers:
        name = header.lower()
        index[name] = f"{index[name]}, {value}" if name in index else value
    return index


def kind_of(headers: Mapping[str, str]) -> str | None:
    """Return the kind of a response by its lower-cased headers, `json` or `html`, or None if neither."""
    content_type = headers.get("content-type", "").strip()
    if _JSON.match(content_type):
        return "json"
    return "html" if _HTML.match(content_type) else None


def is_eligible(status: int, headers: Mapping[str, str], cache_mode: str) -> bool:
    """Tell whether status and lower-cased headers allow the response to be modified."""
    if not 200 <= status < 300 or status in _PARTIAL or "content-range" in headers:
        return False
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        return False
    return cache_mode != "safe" or not _is_shared(headers)


def _is_shared(headers: Mapping[str, str]) -> bool:
    """Tell whether a shared cache may store the response: it would give one customer's capability to another."""
    if _CACHE_POLICIES.isdisjoint(headers):  # most responses of an API
        return False
    if not _CDN_POLICIES.isdisjoint(headers):
        return True
    directives = {part.strip().lower() for part in headers.get("cache-control", "").split(",")}
    # With a field name, as in private="set-cookie", they are about that field only.
    if directives & {"private", "no-store"}:
        return False
    return (
        bool({part.split("=")[0].strip() for part in directives} & {"public", "s-maxage", "max-age"})
        or "expires" in headers
    )
