"""The product unharmed: its responses keep their bytes and do not wait, whatever the service does."""

import time

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.processes import Product, reserve_port
from conformance.protocol import COMPANY_KEY, ENVELOPE
from conformance.recorder import CUT, RUBBISH, Reply
from conformance.routes import HTML, route
from conformance.wire import Response

BODY = '{"n":123456789012345678901234567890, "d":1,"d":2}'
PAGE = "<html><head><title>a</title></head><body></body></html>"

ROUTES = [
    route("/object", BODY),
    route("/page", PAGE, HTML),
    route("/array", "[1.0]"),
    route("/text", "plain", "text/plain"),
    route("/stream", chunks=["a", "b"]),
    route("/error", status=500),
    route("/ask", BODY, ask={"purpose": "product_personalization", "remember": True, "userRef": "X-Customer"}),
]

REPLIES = {
    "500": Reply(500),
    "503": Reply(503, headers=(("Retry-After", "3600"),)),
    "429": Reply(429, headers=(("Retry-After", "3600"),)),
    "redirects": Reply(307, headers=(("Location", "http://127.0.0.1:1/"),)),
    "rubbish": RUBBISH,
    "cut": CUT,
    "a page instead of JSON": Reply(200, b"<html>not here", (("Content-Type", "text/html"),)),
    "a number instead of an object": Reply(200, 1),
    "strange headers": Reply(200, {}, (("Retry-After", "-1"), ("Agent-Feedback-Refused", "x"), ("X-A", "\u00e9" * 99))),
    "slow": Reply(200, {}, delay_s=8),
}

OPTIONS = {"mode": "ask_once", "customerRef": "X-Customer", "companyKey": COMPANY_KEY, "timeout": 500}

MAX_TIME_S = 4
"""For all the routes: far below what a response that waits for a slow service takes, far above the machine's own."""


def visit(product: Product, number: int) -> dict[str, Response]:
    """Get every route once, as a customer that nobody has seen."""
    started_at = time.monotonic()
    responses = {entry["path"]: product.get(entry["path"], X_Customer=f"new_{number}") for entry in ROUTES}
    assert time.monotonic() - started_at < MAX_TIME_S
    return responses


def require_unharmed(responses: dict[str, Response]) -> None:
    """Fail unless every response is the product's own beside its envelope."""
    assert responses["/text"].body == b"plain"
    assert responses["/stream"].body == b"ab"
    assert responses["/error"].status == 500
    assert responses["/array"].body == b"[1.0]"
    for path in ("/object", "/ask"):
        assert responses[path].body.startswith(BODY.encode()[:-1])
        assert responses[path].json().keys() - {"_service"} == {"n", "d", ENVELOPE}
    head, _, tail = PAGE.partition("</head>")
    assert responses["/page"].body.startswith(head.encode())
    assert responses["/page"].body.endswith(b"</head>" + tail.encode())
    for path in ("/object", "/ask", "/page", "/array"):
        assert responses[path].status == 200
        assert responses[path].is_complete
        assert envelopes.get(responses[path])["state"] == "consent_required"


@pytest.mark.parametrize("name", REPLIES)
def test_a_service_that_answers(launch: Launch, name: str) -> None:
    product = launch(ROUTES, **OPTIONS, serviceName=name)
    product.recorder.always("*", REPLIES[name])
    for number in range(3):
        require_unharmed(visit(product, number))
    assert product.recorder.all(), "it was asked"


def test_a_service_that_is_down(launch: Launch) -> None:
    with reserve_port() as reservation:
        product = launch(ROUTES, **OPTIONS, endpoint=f"http://127.0.0.1:{reservation.getsockname()[1]}")
        for number in range(3):
            require_unharmed(visit(product, number))


def test_a_service_that_never_answers(launch: Launch) -> None:
    product = launch(ROUTES, **OPTIONS)
    paths = {"/api/v2/telemetry/batches", "/api/v2/consent/state", "/api/v2/enrichment/requests"}
    for path in paths:
        product.recorder.always(path, Reply(200, {}, delay_s=30))
    for number in range(3):
        require_unharmed(visit(product, number))


def test_a_queue_that_is_full(launch: Launch) -> None:
    product = launch(ROUTES, **OPTIONS, maxQueueSize=1, flushInterval=60_000)
    for number in range(5):
        require_unharmed(visit(product, number))
    assert product.counters()["dropped"]["queue_full"] > 10


@pytest.mark.parametrize("value", ["false", " False "])
def test_the_kill_switch(start_alone: Launch, value: str) -> None:
    product = start_alone(ROUTES, {"AGENT_FEEDBACK_ENABLED": value}, **OPTIONS)
    product.wait_until_it_listens()
    for entry in ROUTES:
        response = product.get(entry["path"], X_Customer="one")
        assert response.body.decode() == entry.get("body", "ab")
        assert (envelopes.find(response), response.all("Link"), response.all("Cache-Control")) == (None, [], [])
    product.put(1)
    product.flush()
    assert product.recorder.all() == []
