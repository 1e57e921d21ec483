"""Read the members that a product adds to its responses, from JSON or HTML."""

import json
from contextlib import suppress
from html.parser import HTMLParser
from typing import Any

from agent_feedback.delivery import HTML_IDS

MEMBERS_BY_ELEMENT_ID = {element_id: member for member, element_id in HTML_IDS.items()}


def read_members(response: Any) -> dict[str, Any]:
    """Return the members of a JSON response, or those that its HTML embeds; empty without any.

    `response` is a response of requests or httpx, a parsed JSON object, or the bytes or the text of one.
    """
    if isinstance(response, dict):
        return response
    body = response if isinstance(response, (bytes, bytearray, str)) else getattr(response, "content", None)
    try:
        content = json.loads(body or b"null")
    except (ValueError, TypeError, RecursionError):
        return _read_html(body) if isinstance(body, (bytes, bytearray, str)) else {}
    return content if isinstance(content, dict) else {}


def _read_html(body: bytes | bytearray | str) -> dict[str, Any]:
    text = body if isinstance(body, str) else bytes(body).decode("utf-8", "replace")
    if not any(element_id in text for element_id in MEMBERS_BY_ELEMENT_ID):
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
        if tag == "script" and attributes.get("type") == "application/json":
            self._member, self._text = MEMBERS_BY_ELEMENT_ID.get(attributes.get("id") or ""), ""

    def handle_data(self, data: str) -> None:
        if self._member:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if self._member and tag == "script":
            with suppress(ValueError, RecursionError):
                self.members.setdefault(self._member, json.loads(self._text))
            self._member = None
