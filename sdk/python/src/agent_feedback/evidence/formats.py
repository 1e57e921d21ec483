"""The formats of access logs, and their detection."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from agent_feedback.evidence import combined, jsonlines
from agent_feedback.evidence.cloudfront import FIELDS, CloudFrontParser
from agent_feedback.evidence.record import Malformed, Record

Parser = Callable[[bytes], Record | None]
"""Parses one line, or raises `Malformed`; None for a line that is no request."""


class Format(NamedTuple):
    """One format, with the source kind and provider of its events unless the operator names others."""

    name: str
    source_kind: str
    provider: str
    make_parser: Callable[[bytes, Mapping[str, str]], Parser]
    """Makes the parser of one file from its first bytes and the operator's keys by field."""


def _json(keys: jsonlines.Keys) -> Callable[[bytes, Mapping[str, str]], Parser]:
    return lambda _, operator_keys: jsonlines.JsonParser(keys, operator_keys)


FORMATS = {
    log_format.name: log_format
    for log_format in (
        Format("combined", "server_log", "web-server", lambda _, __: combined.parse),
        Format("nginx-json", "server_log", "nginx", _json(jsonlines.NGINX)),
        Format("caddy", "server_log", "caddy", _json(jsonlines.CADDY)),
        Format("cloudfront", "cdn_log", "cloudfront", lambda head, _: CloudFrontParser(head)),
        Format("cloudflare", "cdn_log", "cloudflare", _json(jsonlines.CLOUDFLARE)),
        Format("fastly", "cdn_log", "fastly", _json(jsonlines.FASTLY)),
    )
}

HEADER_MARKERS = (FIELDS,)
"""Lines with these are parsed although they name no bot."""


def detect(head: bytes, operator_keys: Mapping[str, str]) -> Format | None:
    """Return the format of the first line that is in a known one, or None."""
    for line in head.split(b"\n"):
        if line.startswith((FIELDS, b"#Version:")):
            return FORMATS["cloudfront"]
        if combined.looks_like(line):
            return FORMATS["combined"]
        if b"{" in line:
            name = _json_format(line, operator_keys)
            if name:
                return FORMATS[name]
    return None


def _json_format(line: bytes, operator_keys: Mapping[str, str]) -> str | None:
    try:
        content = jsonlines.load(line)
        if {"ClientRequestMethod", "ClientRequestUserAgent", "EdgeResponseStatus"} & content.keys():
            return "cloudflare"
        if isinstance(content.get("request"), dict):
            return "caddy"
        if {"request_user_agent", "request_referer"} & content.keys():
            return "fastly"
        jsonlines.JsonParser(jsonlines.NGINX, operator_keys)(line)
    except Malformed:
        return None
    return "nginx-json"
