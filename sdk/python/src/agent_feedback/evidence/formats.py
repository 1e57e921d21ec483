"""The formats of access logs, and how to tell them apart."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from agent_feedback.evidence import combined, jsonlines
from agent_feedback.evidence.cloudfront import FIELDS, CloudFrontParser
from agent_feedback.evidence.record import Malformed, Record

Parser = Callable[[bytes], Record | None]
"""Reads one line, or raises `Malformed`; None for a line that is no request."""


class Format(NamedTuple):
    """One format, and what its lines say of their source unless the operator says otherwise."""

    name: str
    source_kind: str
    provider: str
    open: Callable[[bytes, Mapping[str, str]], Parser]
    """Makes the parser of one file from its beginning, and the keys that the operator named."""


def _json(keys: jsonlines.Keys) -> Callable[[bytes, Mapping[str, str]], Parser]:
    return lambda _, named: jsonlines.JsonParser(keys, named)


FORMATS = {
    each.name: each
    for each in (
        Format("combined", "server_log", "web-server", lambda _, __: combined.parse),
        Format("nginx-json", "server_log", "nginx", _json(jsonlines.NGINX)),
        Format("caddy", "server_log", "caddy", _json(jsonlines.CADDY)),
        Format("cloudfront", "cdn_log", "cloudfront", lambda head, _: CloudFrontParser(head)),
        Format("cloudflare", "cdn_log", "cloudflare", _json(jsonlines.CLOUDFLARE)),
        Format("fastly", "cdn_log", "fastly", _json(jsonlines.FASTLY)),
    )
}

MARKS = (FIELDS,)
"""Lines with these are read though they name no bot."""


def detect(head: bytes, named: Mapping[str, str]) -> Format | None:
    """Return the format of a file from its first lines; lines that tell nothing are passed over."""
    for line in head.split(b"\n"):
        if line.startswith((FIELDS, b"#Version:")):
            return FORMATS["cloudfront"]
        if combined.looks_like(line):
            return FORMATS["combined"]
        if b"{" in line:
            name = _json_format(line, named)
            if name:
                return FORMATS[name]
    return None


def _json_format(line: bytes, named: Mapping[str, str]) -> str | None:
    try:
        content = jsonlines.load(line)
        if {"ClientRequestMethod", "ClientRequestUserAgent", "EdgeResponseStatus"} & content.keys():
            return "cloudflare"
        if isinstance(content.get("request"), dict):
            return "caddy"
        if {"request_user_agent", "request_referer"} & content.keys():
            return "fastly"
        jsonlines.JsonParser(jsonlines.NGINX, named)(line)
    except Malformed:
        return None
    return "nginx-json"
