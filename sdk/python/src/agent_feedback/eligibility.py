"""Which responses carry an envelope."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

ALWAYS_EXCLUDED = (
    "/health",
    "/healthz",
    "/readyz",
    "/metrics",
    "/favicon.ico",
    "/robots.txt",
    "/_service/**",
    "/_agent-feedback/**",
)

_JSON = re.compile(r"application/(?:json|[\w.-]+\+json)\s*(?:;\s*charset\s*=\s*\"?utf-?8\"?\s*)?\Z", re.IGNORECASE)
_HTML = re.compile(
    r"text/html\s*(?:;\s*charset\s*=\s*\"?(?:utf-?8|us-ascii|iso-8859-1|windows-1252)\"?\s*)?\Z", re.IGNORECASE
)
_PARTIAL = (204, 205, 206)
# What a cache of the company's own obeys before it looks at Cache-Control.
_CDN_POLICIES = frozenset({"cdn-cache-control", "surrogate-control"})


class PathRules:
    """Path patterns: `*` is one segment, `**` is any depth."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = [_compile(pattern) for pattern in include]
        self._exclude = [_compile(pattern) for pattern in (*ALWAYS_EXCLUDED, *exclude)]

    def covers(self, path: str) -> bool:
        """Tell whether a path is included and not excluded."""
        return any(rule.match(path) for rule in self._include) and not any(rule.match(path) for rule in self._exclude)


def _compile(pattern: str) -> "re.Pattern[str]":
    parts = re.split(r"(\*\*|\*)", pattern)
    words = {"**": ".*", "*": "[^/]*"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts) + r"\Z", re.DOTALL)


def by_name(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by their lower-cased names; one that occurs again is joined with commas."""
    named: dict[str, str] = {}
    for written, value in headers:
        name = written.lower()
        named[name] = f"{named[name]}, {value}" if name in named else value
    return named


def surface_of(headers: Mapping[str, str]) -> str | None:
    """Return what a response is by its lower-cased headers, JSON or HTML, or None if neither."""
    content_type = headers.get("content-type", "").strip()
    if _JSON.match(content_type):
        return "http_json"
    return "html" if _HTML.match(content_type) else None


def is_eligible(status: int, headers: Mapping[str, str], options: Any) -> bool:
    """Tell whether a response, by its status and lower-cased headers, can be extended if its content can."""
    if not 200 <= status < 300 or status in _PARTIAL or "content-range" in headers:
        return False
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        return False
    return options.cache_mode == "private" or not _is_shared(headers)


def _is_shared(headers: Mapping[str, str]) -> bool:
    """Tell whether a cache in between may keep the response: then one customer's capability would reach another."""
    if _CDN_POLICIES & headers.keys():
        return True
    directives = {part.strip().lower() for part in headers.get("cache-control", "").split(",")}
    # With a field name, as in private="set-cookie", they keep back that field only.
    if directives & {"private", "no-store"}:
        return False
    return (
        bool({part.split("=")[0].strip() for part in directives} & {"public", "s-maxage", "max-age"})
        or "expires" in headers
    )
