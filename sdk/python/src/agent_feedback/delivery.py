"""The shapes in which a body carries the envelope and the context action; a new shape is a class of this file."""

from collections.abc import Container, Mapping
from typing import Protocol

from agent_feedback import html_insert, json_splice, protocol_files
from agent_feedback.envelope import ENVELOPE
from agent_feedback.keys import base64url

SERVICE = "_service"
HEADER = "Agent-Feedback"
HEADER_SURFACE = "http_headers"
MAX_HEADER_LENGTH: int = protocol_files.read("contract.json")["headers"]["maxEnvelopeBytes"]

HTML_IDS = {ENVELOPE: "agent-feedback", SERVICE: "agent-service-context"}
"""The ids of the elements that carry a member in HTML."""


class Shape(Protocol):
    """A body to which members can be added."""

    surface: str
    """Telemetry's name for an envelope in such a body."""
    falls_back_to_header: bool
    """Whether the header carries an envelope for which the body has no room."""

    def has_room(self, member: str) -> bool:
        """Tell whether a member can be added."""

    def add(self, members: Mapping[str, str]) -> bytes:
        """Return the body with members, whose values are JSON; every other byte stays."""


class JsonObject:
    """A JSON object, which gets further members. One that has an envelope already is left alone."""

    surface = "http_json"
    falls_back_to_header = False

    def __init__(self, body: bytes, names: Container[str]) -> None:
        self._body, self._names = body, names

    def has_room(self, member: str) -> bool:
        """Tell whether the object has no such member."""
        return member not in self._names

    def add(self, members: Mapping[str, str]) -> bytes:
        """Return the object with these as its last members."""
        return json_splice.splice(self._body, members)


class JsonValue:
    """A JSON array or scalar, which has no room for anything."""

    surface = "http_json"
    falls_back_to_header = True

    def has_room(self, member: str) -> bool:
        """Return False."""
        return False

    def add(self, members: Mapping[str, str]) -> bytes:
        """Raise, since nothing can be added."""
        raise TypeError("an array or a scalar has no members")


class HtmlPage:
    """A page, which gets script elements."""

    surface = "http_html"
    falls_back_to_header = True

    def __init__(self, body: bytes, page: html_insert.Page) -> None:
        self._body, self._page = body, page

    def has_room(self, member: str) -> bool:
        """Tell whether no element has the id of the member's element."""
        return HTML_IDS[member].encode() not in self._page.ids

    def add(self, members: Mapping[str, str]) -> bytes:
        """Return the page with one element for each member."""
        scripts = {HTML_IDS[name]: value for name, value in members.items()}
        return html_insert.insert_scripts(self._body, self._page.offset, scripts)


def read_shape(kind: str, body: bytes) -> Shape | None:
    """Return the shape of a body of a kind, `json` or `html`; None where it is invalid or ambiguous."""
    if kind == "html":
        page = html_insert.read_page(body)
        return None if page is None else HtmlPage(body, page)
    content = json_splice.read_value(body)
    if content is json_splice.INVALID:
        return None
    return JsonObject(body, content.keys()) if isinstance(content, dict) else JsonValue()


def header_value(envelope: str) -> str | None:
    """Return the value of the header for an envelope as JSON, or None where it is too long."""
    value = base64url(envelope.encode())
    return value if len(value) <= MAX_HEADER_LENGTH else None
