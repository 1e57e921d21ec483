"""Read the members that a product adds to its responses: in a header, in JSON or in HTML."""

import base64
from contextlib import suppress
from html.parser import HTMLParser
from typing import Any, NamedTuple

from agent_feedback import protocol_files
from agent_feedback.agent.json_reader import read_json

_CONTRACT = protocol_files.read("contract.json")
_HEADERS, _HTML, _MEMBERS = _CONTRACT["headers"], _CONTRACT["html"], _CONTRACT["members"]
_MEMBERS_BY_ELEMENT_ID = {_HTML["envelopeId"]: _MEMBERS["envelope"], _HTML["contextId"]: _MEMBERS["service"]}


class Members(NamedTuple):
    """What a response holds for an agent."""

    envelope: dict[str, Any] | None = None
    place: str | None = None
    """Where the envelope is: `header`, `json` or `html`."""
    context: dict[str, Any] | None = None


def read_members(response: Any) -> Members:
    """Return the members of a response.

    `response` is a response of requests or httpx, a page of `fetch`, a parsed JSON object, or the bytes or the text of
    a body.
    """
    place, content = _read_body(response)
    body_envelope = _envelope(content.get(_MEMBERS["envelope"]))
    header_envelope = _envelope(_decode(find_header(response, _HEADERS["envelope"])))
    service = content.get(_MEMBERS["service"])
    context = service.get(_MEMBERS["customerContext"]) if isinstance(service, dict) else None
    # A page with an element of that id, or an object with that member, may be the product's own.
    envelope = header_envelope or body_envelope
    return Members(
        envelope,
        (None if envelope is None else "header" if header_envelope else place),
        context if isinstance(context, dict) else None,
    )


def find_header(response: Any, name: str) -> str | None:
    """Return a header of a response that has headers, or None."""
    headers: Any = getattr(response, "headers", None)
    if not hasattr(headers, "get"):
        return None
    # A mapping with exact names has them as HTTP/2 writes them.
    value = headers.get(name) or headers.get(name.lower())
    return value if isinstance(value, str) else None


def _envelope(member: Any) -> dict[str, Any] | None:
    return member if isinstance(member, dict) and member.get("v") == _CONTRACT["version"] else None


def _decode(header: str | None) -> Any:
    """Return the JSON of a header in base64url, or None."""
    if not header or len(header) > _HEADERS["maxEnvelopeBytes"]:
        return None
    with suppress(ValueError):
        return read_json(base64.b64decode(header + "=" * (-len(header) % 4), b"-_", validate=True))
    return None


def _read_body(response: Any) -> tuple[str, dict[str, Any]]:
    """Return what a body is, `json` or `html`, and its members."""
    if isinstance(response, dict):
        return "json", response
    body = response if isinstance(response, (bytes, bytearray, str)) else getattr(response, "content", None)
    try:
        content = read_json(body or b"null")
    except (ValueError, TypeError):
        return "html", _read_html(body) if isinstance(body, (bytes, bytearray, str)) else {}
    return "json", content if isinstance(content, dict) else {}


def _read_html(body: bytes | bytearray | str) -> dict[str, Any]:
    text = body if isinstance(body, str) else bytes(body).decode("utf-8", "replace")
    if not any(element_id in text for element_id in _MEMBERS_BY_ELEMENT_ID):
        return {}
    parser = _ScriptParser()
    parser.feed(text)
    return parser.members


class _ScriptParser(HTMLParser):
    """Collects the content of the script elements that the SDK inserts."""

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, Any] = {}
        self._member: str | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "script" and attributes.get("type") == _HTML["type"]:
            self._member, self._text = _MEMBERS_BY_ELEMENT_ID.get(attributes.get("id") or ""), ""

    def handle_data(self, data: str) -> None:
        if self._member:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if self._member and tag == "script":
            with suppress(ValueError):
                self.members.setdefault(self._member, read_json(self._text))
            self._member = None
