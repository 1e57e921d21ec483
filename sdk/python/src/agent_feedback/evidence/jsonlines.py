"""Parse formats with one JSON object a line: nginx as configured, Caddy, Cloudflare Logpush, Fastly."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_feedback.evidence.record import Malformed, Record, parse_status, parse_time

FIELDS = ("time", "method", "status", "user_agent", "referrer", "address")

Keys = Mapping[str, Sequence[str]]
"""For each field its possible keys by precedence; a dot leads into an object."""

NGINX: Keys = {
    "time": ("time_iso8601", "@timestamp", "timestamp", "time", "time_local", "msec", "ts"),
    "method": ("request_method", "method", "request"),
    "status": ("status", "response_status", "status_code"),
    "user_agent": ("http_user_agent", "user_agent", "agent", "userAgent"),
    "referrer": ("http_referer", "http_referrer", "referer", "referrer"),
    "address": ("remote_addr", "client_ip", "remote_ip", "clientip"),
}
CADDY: Keys = {
    "time": ("ts",),
    "method": ("request.method",),
    "status": ("status",),
    "user_agent": ("request.headers.User-Agent",),
    "referrer": ("request.headers.Referer",),
    "address": ("request.client_ip", "request.remote_ip", "request.remote_addr"),
}
CLOUDFLARE: Keys = {
    "time": ("EdgeStartTimestamp", "EdgeEndTimestamp"),
    "method": ("ClientRequestMethod",),
    "status": ("EdgeResponseStatus",),
    "user_agent": ("ClientRequestUserAgent",),
    "referrer": ("ClientRequestReferer",),
    "address": ("ClientIP",),
}
FASTLY: Keys = {
    "time": ("timestamp", "time_start", "time"),
    "method": ("request_method", "method"),
    "status": ("response_status", "status"),
    "user_agent": ("request_user_agent", "user_agent"),
    "referrer": ("request_referer", "request_referrer", "referer"),
    "address": ("client_ip",),
}


class JsonParser:
    """Parses one JSON object a line; a key that the operator configures replaces the default keys of its field."""

    def __init__(self, keys: Keys, operator_keys: Mapping[str, str]) -> None:
        self._paths = {
            field: [
                path
                for key in ([operator_keys[field]] if field in operator_keys else keys[field])
                for path in _paths(key)
            ]
            for field in FIELDS
        }

    def __call__(self, line: bytes) -> Record:
        """Parse one line, or raise `Malformed`."""
        content = load(line)
        return Record(
            observed_at=parse_time(self._find(content, "time")),
            method=self._text(content, "method").partition(" ")[0],
            status=parse_status(self._find(content, "status")),
            user_agent=self._text(content, "user_agent"),
            referrer=self._text(content, "referrer"),
            address=self._text(content, "address"),
            fields=content,
        )

    def _find(self, content: Mapping[str, Any], field: str) -> object:
        for path in self._paths[field]:
            value: object = content
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, list) and value:
                value = value[0]
            if isinstance(value, (str, int, float)) and not isinstance(value, bool):
                return value
        return None

    def _text(self, content: Mapping[str, Any], field: str) -> str:
        value = self._find(content, field)
        return value if isinstance(value, str) and value != "-" else ""


def load(line: bytes) -> dict[str, Any]:
    """Return the object of a line without the prefix that a log shipper may have put before it."""
    begin = line.find(b"{")
    try:
        content = json.loads(line[max(begin, 0) :].decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        raise Malformed("json") from None
    if not isinstance(content, dict):
        raise Malformed("json")
    return content


def _paths(key: str) -> list[tuple[str, ...]]:
    return [(key,), tuple(key.split("."))] if "." in key else [(key,)]
