"""Operations, hints and references as they arrive in telemetry, and the callback that keeps the envelope away."""

import re
from typing import Any
from urllib.parse import quote

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import PATHS, validate, vectors
from conformance.routes import HTML, route

OPTIONS = {
    "customerRef": "X-Customer",
    "sessionRef": "X-Session",
    "runtimeHint": "X-Hint",
    "operation": "X-Operation",
    "flushInterval": 60_000,
}

OPERATIONS = vectors("operation")
HINTS = vectors("hint")


def is_header(text: str) -> bool:
    """Tell whether a text arrives as the value of a header just as it was sent."""
    return text.isascii() and text.isprintable() and text == text.strip()


BY_PATH = [
    case
    for case in OPERATIONS
    if "path" in case["input"] and case["input"]["path"][:1] == "/" and not set("?#") & set(case["input"]["path"])
]
BY_NAME = [case for case in OPERATIONS if is_header(case["input"].get("name", "\0"))]
BY_TEXT = [case for case in HINTS if is_header(case["input"].get("text", "\0").strip() or "\0")]
BY_USER_AGENT = [case for case in HINTS if is_header(case["input"].get("userAgent") or "\0")]

ROUTES = [
    route("/orders/12"),
    route("/list", "[1]"),
    route("/page", "<p>a", HTML),
    route("/slow", delayMs=120),
    *(route(path) for path in sorted({case["input"]["path"] for case in BY_PATH})),
]


def ids(cases: list[dict[str, Any]]) -> list[str]:
    return [case["name"] for case in cases]


@pytest.fixture
def product(launch: Launch) -> Product:
    return launch(ROUTES, **OPTIONS)


def event_of(product: Product, target: str, **headers: str) -> dict[str, Any]:
    """Return the one event of a request."""
    envelope = envelopes.get(product.send(target, headers=headers))
    product.flush()
    requests = product.recorder.of(PATHS["telemetry"])
    validate("telemetry-batch", requests[-1].content)
    (event,) = requests[-1].events
    assert event["interactionId"] == envelopes.check(envelope, "never_ask", product.recorder.url)["i"]
    return event


@pytest.mark.parametrize(
    ("path", "surface"), [("/orders/12", "http_json"), ("/list", "http_headers"), ("/page", "http_html")]
)
def test_the_event_of_a_response(product: Product, path: str, surface: str) -> None:
    event = event_of(product, path + "?q=secret")
    assert event["surface"] == surface
    assert (event["classification"], event["statusCode"]) == ("unclassified", 200)
    assert 0 <= event["durationMs"] < 60_000
    assert re.fullmatch(r"[0-9T:-]{19}\.[0-9]{3}Z", event["occurredAt"])
    assert round(event["durationMs"], 3) == event["durationMs"]
    absent = {"customerRef", "sessionRef", "sessionSource", "runtimeHint", "runtimeHintSource"}
    assert not absent & event.keys()
    assert "secret" not in str(event)


def test_the_duration_is_that_of_the_product(product: Product) -> None:
    assert event_of(product, "/slow")["durationMs"] >= 100


@pytest.mark.parametrize("case", BY_PATH, ids=ids(BY_PATH))
def test_the_operation_of_a_path(product: Product, case: dict[str, Any]) -> None:
    path = case["input"]["path"]
    assert event_of(product, quote(path, safe="/"))["operation"] == case["expected"]


@pytest.mark.parametrize("case", BY_NAME, ids=ids(BY_NAME))
def test_the_operation_of_a_callback(product: Product, case: dict[str, Any]) -> None:
    event = event_of(product, "/orders/12", X_Operation=case["input"]["name"])
    assert event["operation"] == (case["expected"] or "/orders/:id")


@pytest.mark.parametrize("case", BY_TEXT, ids=ids(BY_TEXT))
def test_the_hint_of_a_callback(product: Product, case: dict[str, Any]) -> None:
    event = event_of(product, "/orders/12", X_Hint=case["input"]["text"].strip())
    assert event.get("runtimeHint") == case["expected"]
    assert event.get("runtimeHintSource") == (case["expected"] and "http")


@pytest.mark.parametrize("case", BY_USER_AGENT, ids=ids(BY_USER_AGENT))
def test_the_hint_of_a_user_agent(launch: Launch, case: dict[str, Any]) -> None:
    product = launch(ROUTES, runtimeHint="user-agent", flushInterval=60_000)
    event = event_of(product, "/orders/12", User_Agent=case["input"]["userAgent"])
    assert event.get("runtimeHint") == case["expected"]


def test_without_the_option_there_is_no_hint(launch: Launch) -> None:
    product = launch(ROUTES, flushInterval=60_000)
    assert "runtimeHint" not in event_of(product, "/orders/12", User_Agent="ClaudeBot/1.0")


@pytest.mark.parametrize("reference", ["account_42", "a.b:c-D_9", "x" * 160])
def test_references(product: Product, reference: str) -> None:
    event = event_of(product, "/orders/12", X_Customer=reference, X_Session=reference)
    assert (event["customerRef"], event["sessionRef"], event["sessionSource"]) == (reference, reference, "customer")


@pytest.mark.parametrize("reference", ["some one", "a@b.example", "x" * 161, "caf\u00e9", "a/b"])
def test_references_that_the_service_would_refuse_are_left_out(product: Product, reference: str) -> None:
    event = event_of(product, "/orders/12", X_Customer=reference, X_Session=reference)
    assert not {"customerRef", "sessionRef", "sessionSource"} & event.keys()


@pytest.mark.parametrize("path", ["/orders/12", "/list", "/page"])
@pytest.mark.parametrize("value", ["0", "true", None])
def test_what_should_not_be_instrumented_is_untouched(launch: Launch, path: str, value: str | None) -> None:
    product = launch(ROUTES, shouldInstrument="X-Instrument", flushInterval=60_000)
    response = product.send(path, headers={"X-Instrument": value} if value else {})
    entry = next(entry for entry in ROUTES if entry["path"] == path)
    assert (response.status, response.body.decode()) == (200, entry["body"])
    assert (envelopes.find(response), response.all("Link"), response.all("Cache-Control")) == (None, [], [])
    product.flush()
    assert product.recorder.of(PATHS["telemetry"]) == []


def test_what_should_be_instrumented(launch: Launch) -> None:
    product = launch(ROUTES, shouldInstrument="X-Instrument", flushInterval=60_000)
    assert event_of(product, "/orders/12", X_Instrument="1")["operation"] == "/orders/:id"
