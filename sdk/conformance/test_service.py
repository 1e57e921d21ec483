"""The whole loop against the service itself: a product, an agent, and what the service says of both."""

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.processes import Agent, Product
from conformance.protocol import CONTRACT, read_claims, validate
from conformance.real_service import RealService, running_service
from conformance.recorder import wait_until
from conformance.routes import HTML, route
from conformance.wire import send

NOTE = "Every field was as the documentation said."
CUSTOMER = "X-Customer"
RETRY_HEADER = CONTRACT["headers"]["contextInteraction"]
PURPOSE = "product_personalization"
PRICE = {"key": "shopping.priority", "value": "price", "provenance": "agent_reports_user_statement"}

ASK: dict[str, Any] = {"purpose": PURPOSE, "fieldKeys": ["shopping.priority"]}

ROUTES = [
    route("/orders/12"),
    route("/list", "[1]"),
    route("/page", "<html><head></head><body>a</body></html>", HTML),
    route("/shoes", context={"purpose": PURPOSE}, ask=ASK),
    route(
        "/remembered",
        context={"purpose": PURPOSE, "userRef": CUSTOMER},
        ask={**ASK, "remember": True, "userRef": CUSTOMER},
    ),
]
SHAPES = ["/orders/12", "/list", "/page"]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealService]:
    with running_service(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture
def start(service: RealService, launch: Launch) -> Launch:
    """Start a product whose SDK has the mode of its environment, unless told otherwise."""

    def start(environment: str, **options: Any) -> Product:
        given = {"mode": environment, "customerRef": CUSTOMER, **service.environments[environment].options, **options}
        return launch(ROUTES, **given)

    return start


def customer() -> dict[str, str]:
    return {CUSTOMER: f"user_{uuid.uuid4()}"}


def fetch(agent: Agent, product: Product, path: str = "/orders/12", headers: dict[str, str] | None = None) -> Any:
    result = agent.do("fetch", url=product.url + path, headers=headers or {})
    assert result["ok"], result
    return result


def review(agent: Agent) -> dict[str, Any]:
    return agent.do("submit_outcome", outcome="success", note=NOTE)


@pytest.mark.parametrize("path", SHAPES)
def test_a_review_and_a_report(start: Launch, service: RealService, customer_agent: Agent, path: str) -> None:
    product, environment = start("never_ask"), service.environments["never_ask"]
    envelope = fetch(customer_agent, product, path)["body"]
    interaction = read_claims(envelopes.token_of(envelope), environment.api_key)["i"]
    first, second = review(customer_agent), review(customer_agent)
    assert first["body"]["review"]["note"] == NOTE
    assert first["body"] == second["body"], "a second one returns the first"
    finding = {"kind": "strength", "topic": "speed", "detail": "It answered at once."}
    report = {"summary": NOTE, "impact": "helped", "confidence": 0.9, "findings": [finding]}
    assert customer_agent.do("submit_report", report=report)["body"]["report"]["findings"]
    operation = "/orders/:id" if path == "/orders/12" else path
    wait_until(lambda: service.classification(environment, interaction) == f"confirmed {operation}", 30)


def test_telemetry_arrives_without_a_review(start: Launch, service: RealService) -> None:
    product, environment = start("never_ask"), service.environments["never_ask"]
    interaction = envelopes.check(
        envelopes.get(product.get("/orders/12")), "never_ask", environment.url, key=environment.api_key
    )["i"]
    wait_until(lambda: service.classification(environment, interaction) == "unclassified /orders/:id", 30)
    counters = product.counters()
    assert (counters["sent"], counters["dropped"]) == (counters["queued"], {})


def test_what_the_service_refuses(start: Launch, customer_agent: Agent) -> None:
    fetch(customer_agent, start("never_ask"))
    result = customer_agent.do("submit_outcome", outcome="success", note="Bearer private-token-0123456789abcdef0123")
    assert (result["error"], result["status"], result["code"]) == ("refused", 400, "secret_detected")


def test_a_mode_that_the_service_does_not_share(start: Launch, customer_agent: Agent) -> None:
    fetch(customer_agent, start("off", mode="never_ask"))
    result = review(customer_agent)
    assert (result["error"], result["status"]) == ("refused", 410)


def test_an_approval_is_remembered(start: Launch, service: RealService, customer_agent: Agent) -> None:
    product, headers = start("ask_once", consentCacheTtl=200), customer()
    assert fetch(customer_agent, product, headers=headers)["state"] == "consent_required"
    assert customer_agent.do("introspect")["body"]["state"] == "consent_required"
    result = customer_agent.do("decide", decision="approved")
    assert (result["ok"], result["state"], result["body"]["changed"]) == (True, "feedback_ready", True)
    assert review(customer_agent)["ok"]
    wait_until(lambda: fetch(customer_agent, product, headers=headers)["state"] == "feedback_ready")
    envelope = fetch(customer_agent, product, "/page", headers)["body"]
    environment = service.environments["ask_once"]
    claims = envelopes.check(envelope, "ask_once_approved", environment.url, key=environment.api_key)
    assert claims["r"] == 1
    assert review(customer_agent)["ok"]


def test_a_refusal_is_remembered(start: Launch, customer_agent: Agent) -> None:
    product, headers = start("ask_once", consentCacheTtl=200), customer()
    fetch(customer_agent, product, headers=headers)
    assert customer_agent.do("decide", decision="declined")["ok"]
    wait_until(lambda: fetch(customer_agent, product, headers=headers)["state"] == "feedback_disabled")
    assert review(customer_agent)["error"] == "invalid"


@pytest.mark.parametrize("decision", ["approved", "declined"])
def test_each_use_is_asked_for(start: Launch, customer_agent: Agent, decision: str) -> None:
    product, headers = start("ask_always"), customer()
    assert fetch(customer_agent, product, headers=headers)["state"] == "consent_required"
    assert customer_agent.do("decide", decision=decision)["ok"]
    assert review(customer_agent)["ok"] == (decision == "approved")
    assert fetch(customer_agent, product, headers=headers)["state"] == "consent_required"


def test_a_review_without_consent_is_refused(start: Launch, customer_agent: Agent) -> None:
    """The SDK does not ask, but the environment does."""
    fetch(customer_agent, start("ask_always", mode="never_ask"))
    result = review(customer_agent)
    assert (result["error"], result["status"]) == ("refused", 403)


def test_an_agent_that_discovers(start: Launch, customer_agent: Agent) -> None:
    product = start("never_ask", cacheMode="request")
    assert fetch(customer_agent, product)["state"] is None
    assert customer_agent.do("discover")["state"] == "feedback_ready"
    assert review(customer_agent)["ok"]


def test_the_discovery_document_is_there(start: Launch) -> None:
    links = ", ".join(start("never_ask").get("/list").all("Link"))
    match = re.search(r'<([^>]+)>; rel="agent-feedback"', links)
    assert match
    url, _, path = match[1].partition("/.well-known")
    validate("discovery", send(url, f"/.well-known{path}").json())


def test_context_of_one_interaction(start: Launch, customer_agent: Agent) -> None:
    product = start("never_ask")
    response = product.get("/shoes")
    assert response.json()["known"] == []
    validate("enrichment-request-response", with_absolute_urls(response.json()["_service"]["customerContext"]))
    fetch(customer_agent, product, "/shoes")
    result = customer_agent.do("answer", items=[PRICE])
    assert (result["ok"], result["body"]["state"]) == (True, "answered")
    interaction = result["body"]["interactionId"]
    retry = product.send("/shoes", headers={RETRY_HEADER: interaction})
    assert retry.json()["known"] == [{"key": PRICE["key"], "value": PRICE["value"]}]
    assert "_service" not in retry.json()
    assert product.get("/shoes").json()["known"] == []


def with_absolute_urls(action: dict[str, Any]) -> dict[str, Any]:
    """Return an action as the schema has it, whose URLs are absolute."""
    content: dict[str, Any] = json.loads(json.dumps(action).replace('"/_service', '"https://shop.example.com/_service'))
    return content


def test_context_of_a_customer(start: Launch, customer_agent: Agent) -> None:
    product, headers = start("never_ask"), customer()
    fetch(customer_agent, product, "/remembered", headers)
    assert customer_agent.do("answer", items=[{**PRICE, "remember": True}])["ok"]
    known = product.send("/remembered", headers=headers).json()["known"]
    assert known == [{"key": PRICE["key"], "value": PRICE["value"]}]
    assert product.send("/remembered", headers=customer()).json()["known"] == []


def test_an_answer_is_final(start: Launch, customer_agent: Agent) -> None:
    fetch(customer_agent, start("never_ask"), "/shoes")
    assert customer_agent.do("answer", items=[PRICE])["ok"]
    assert customer_agent.do("answer", items=[PRICE])["ok"], "the same one again"
    result = customer_agent.do("answer", items=[{**PRICE, "value": "quality"}])
    assert (result["error"], result["status"]) == ("refused", 409)
