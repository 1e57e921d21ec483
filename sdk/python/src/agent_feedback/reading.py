"""Finding what a product adds to its responses."""

import json
from contextlib import suppress
from html.parser import HTMLParser
from typing import Any

from agent_feedback import questions
from agent_feedback.envelope import FIELD

ELEMENTS = {"agent-feedback": FIELD, questions.ELEMENT: questions.FIELD}


def read_members(response: Any) -> dict[str, Any]:
    """Return the members of a response's object, or what its HTML embeds; empty if there are none.

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
    if not any(element in text for element in ELEMENTS):
        return {}
    scripts = _Scripts()
    scripts.feed(text)
    return scripts.found


class _Scripts(HTMLParser):
    """Collects the script elements that are ours."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Any] = {}
        self._member: str | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "script" and told.get("type") == "application/json":
            self._member, self._text = ELEMENTS.get(told.get("id") or ""), ""

    def handle_data(self, data: str) -> None:
        if self._member:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if self._member and tag == "script":
            with suppress(ValueError, RecursionError):
                self.found.setdefault(self._member, json.loads(self._text))
            self._member = None
