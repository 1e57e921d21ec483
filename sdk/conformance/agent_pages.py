"""Pages of a product for the agent's cases, served by the recorder: it is the product and the service at once."""

import json
from typing import Any

from conformance import envelopes
from conformance.processes import Agent
from conformance.protocol import CONTRACT, ENVELOPE, b64u, mint
from conformance.recorder import Recorder, Reply
from conformance.routes import HTML, JSON

PAGE = "/orders/1"


def envelope(recorder: Recorder, state: str = "never_ask") -> dict[str, Any]:
    """Return a fresh envelope whose actions lead to the recorder."""
    return envelopes.expected(state, recorder.url, mint(), "Agent Feedback", "http")


def in_json(content: dict[str, Any]) -> Reply:
    """Return a JSON object with an envelope."""
    return typed(json.dumps({"a": 1, ENVELOPE: content}), JSON)


def in_html(content: dict[str, Any]) -> Reply:
    """Return a page with an envelope."""
    text = json.dumps(content).replace("<", "\\u003c")
    element = f'<script id="{CONTRACT["html"]["envelopeId"]}" type="{CONTRACT["html"]["type"]}">{text}</script>'
    return typed(f"<html><head>{element}</head><body>a</body></html>", HTML)


def in_header(content: dict[str, Any]) -> Reply:
    """Return an array with an envelope."""
    return typed("[1]", JSON, (CONTRACT["headers"]["envelope"], b64u(json.dumps(content).encode())))


def typed(body: str, content_type: str, *headers: tuple[str, str]) -> Reply:
    """Return a body of a type."""
    return Reply(200, body.encode(), (("Content-Type", content_type), *headers))


def url_of(recorder: Recorder, path: str = PAGE) -> str:
    """Return the URL of a page."""
    return recorder.url + path


def read(agent: Agent, recorder: Recorder, state: str, **members: Any) -> Agent:
    """Have the agent fetch a page whose envelope is in this state."""
    recorder.always(PAGE, in_json(envelope(recorder, state)))
    assert agent.do("fetch", url=url_of(recorder), **members)["ok"]
    return agent


def sent(recorder: Recorder) -> list[Any]:
    """Return what came to the service."""
    return [request for request in recorder.all() if request.target.split("?")[0] != PAGE]
