"""A product that asks its customers' agents, and the service's answers as the contract has them."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from agent_feedback import AgentFeedback

from tests.sdk.endpoint import COMPANY_KEY, KEY, Endpoint, Reply
from tests.sdk.site import BODY, JSON, App, Headers

HANDLE = "aqr1_0123456789abcdef0123456789abcdef.AQIDBAUGBwgJCgsMDQ4PEBESAQIDBAUGBwgJCgsMDQ4"
CATALOG = [
    {
        "key": "shopping.priority",
        "label": "What matters most in a purchase",
        "type": "preference",
        "allowedValues": ["price", "quality", "speed"],
        "targetedAdvertisingSafe": True,
    },
    {
        "key": "shop.size",
        "label": "The size that fits",
        "type": "preference",
        "questionType": "customer_size",
        "allowedValues": ["small", "large"],
        "targetedAdvertisingSafe": False,
    },
]


def context_action(service: str, state: str = "answer_ready", **changes: Any) -> dict[str, Any]:
    """Return what the service answers to an enrichment request."""
    base = {"method": "POST", "authorization": f"Bearer {HANDLE}", "contentType": "application/json"}
    bounds = {
        "maximum": 8,
        "required": ["key", "type", "value", "provenance"],
        "type": ["intent", "preference", "constraint", "interest"],
        "provenance": ["agent_reports_user_statement", "agent_reports_current_task", "agent_inference"],
        "catalogVersion": "v1",
        "catalog": CATALOG,
    }
    statuses = ["answered", "declined", "no_relevant_context"]
    submit = {
        **base,
        "url": f"{service}/api/v2/enrichment/answers",
        "bodySchema": {"status": statuses, "items": bounds, "catalog": CATALOG},
    }
    consent = {
        **base,
        "url": f"{service}/api/v2/enrichment/consent/decisions",
        "bodySchema": {"decision": ["approved", "declined"]},
    }
    return {
        "requestId": "01234567-89ab-cdef-0123-456789abcdef",
        "state": state,
        "purpose": "product_personalization",
        "stageInstruction": "Please answer from what you already know; do not ask the user.",
        "answerInstruction": None,
        "question": None,
        "constraints": {"purpose": "product_personalization"},
        "consent": consent,
        "submit": submit if state == "answer_ready" else None,
        **changes,
    }


def json_reply(content: Any, status: int = 200) -> Reply:
    """Return an answer in JSON."""
    return Reply(status, json.dumps(content).encode())


class CompanyClient(AgentFeedback):
    """A client with a company key that keeps its telemetry instead of sending it."""

    def __init__(self, url: str, **settings: Any) -> None:
        # Generous, for a machine that is busy; tests of the time-out set their own.
        options = {"company_key": COMPANY_KEY, "context_timeout": 10.0, **settings}
        super().__init__(KEY, endpoint=url, **options)
        self.events: list[dict[str, Any]] = []
        self.telemetry.put = self.events.append


def make_enrichment_app(
    feedback: AgentFeedback, body: bytes | Iterable[bytes] = BODY, headers: Headers | None = None, **arguments: Any
) -> App:
    """Return a product that asks with each response."""

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        feedback.customer_context.ask(environ, **{"purpose": "product_personalization", **arguments})
        start_headers = list([JSON] if headers is None else headers)
        if isinstance(body, bytes):
            start_headers.append(("Content-Length", str(len(body))))
        start_response("200 OK", start_headers)
        return [body] if isinstance(body, bytes) else body

    return app


def requests_of(endpoint: Endpoint) -> list[dict[str, Any]]:
    """Return the enrichment requests that came in."""
    return [request.content for request in endpoint.requests if request.path == "/api/v2/enrichment/requests"]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    block_on_close = False


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving_app(app: App) -> Iterator[str]:
    """Serve a product over HTTP while the block runs; yields its URL."""
    with make_server("127.0.0.1", 0, app, _Server, _QuietHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
