"""The main job again, in each mode that asks: approval, refusal, silence, and a process that must not ask again."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import requests
from agent_feedback.agent import Received, from_response
from agent_feedback.errors import ServiceRefused

from tests.factories import Company
from tests.journeys.running import running_product
from tests.journeys.stack import Stack, wait_until

NOTE = "The address in the answer was the one that was asked for."


class Shop:
    """httpbin in one mode, and the agents that use it."""

    def __init__(self, stack: Stack, company: Company, mode: str) -> None:
        self.stack, self.company, self.mode = stack, company, mode
        self.url = ""

    def use(self, customer: str | None = None) -> Received:
        headers = {"X-Customer": customer} if customer else {}
        response = requests.get(f"{self.url}/get", headers=headers, timeout=10)
        actions = from_response(response, allowed_origins=[self.stack.url])
        assert actions is not None
        return actions

    def count(self, table: str) -> int:
        number: int = self.stack.value(
            f"SELECT count(*) FROM {table} WHERE environment_id = %s", str(self.company.environment_id)
        )
        return number


@pytest.fixture(params=["ask_once", "ask_always"])
def shop(stack: Stack, request: pytest.FixtureRequest) -> Iterator[Shop]:
    mode = request.param
    product = str(stack.company.product_id)
    environment = stack.flask("environment", "create", "--product", product, "--name", mode, "--mode", mode)
    key = stack.flask("key", "create", "--environment", environment["environmentId"], "--kind", "product")["key"]
    company = replace(stack.company, environment_id=environment["environmentId"], product_key=key)
    product_shop = Shop(stack, company, mode)
    with running_product(stack.url, key, mode) as product_shop.url:
        yield product_shop


def test_an_approval_opens_the_way_for_review_and_report(shop: Shop) -> None:
    envelope = shop.use("account_1")
    assert (envelope.state, envelope.introspect()["state"]) == ("consent_required", "consent_required")
    assert envelope.question == envelope.introspect()["canonicalQuestion"]
    result = envelope.decide("approved")
    assert (result["state"], envelope.state) == ("feedback_ready", "feedback_ready")
    assert envelope.submit_outcome("success", NOTE)["accepted"]
    finding = {"kind": "strength", "topic": "speed", "detail": "It answered at once."}
    assert envelope.submit_report("The answer had everything.", findings=[finding], impact="helped")["accepted"]
    query = "SELECT count(*) FROM interactions WHERE environment_id = %s AND classification = 'confirmed'"
    wait_until(lambda: shop.stack.value(query, str(shop.company.environment_id)) == 1, 10)


def test_without_a_customer_the_approval_of_this_use_is_enough(shop: Shop) -> None:
    envelope = shop.use()
    assert envelope.content["consentPolicy"] == "always"
    envelope.decide("approved")
    assert envelope.introspect()["state"] == "feedback_ready"
    assert envelope.submit_report("The answer had everything.")["accepted"]
    assert shop.use().state == "consent_required"


def test_a_refusal_is_honoured(shop: Shop) -> None:
    envelope = shop.use("account_2")
    authorization = envelope.content["requiredAction"]["submitDecision"]["authorization"]
    assert envelope.decide("declined")["feedback"] is None
    with pytest.raises(ValueError, match="nothing may be submitted"):
        envelope.submit_outcome("success", NOTE)
    _submit_anyway(shop, authorization)
    if shop.mode == "ask_once":
        later_envelope = _until_disabled(shop, "account_2")
        assert later_envelope.question is None
        assert later_envelope.introspect()["state"] == "declined"
    assert (shop.count("reviews"), shop.count("reports")) == (0, 0)


def _until_disabled(shop: Shop, customer: str) -> Received:
    """Use the product until the process that answers has heard of the refusal; there are two of them."""
    envelopes: list[Received] = []

    def use_again() -> bool:
        envelopes.append(shop.use(customer))
        return envelopes[-1].state == "feedback_disabled"

    wait_until(use_again, 15)
    return envelopes[-1]


def _submit_anyway(shop: Shop, authorization: str) -> None:
    """Send a review as an agent without manners would."""
    response = requests.post(
        f"{shop.stack.url}/api/v2/outcomes",
        json={"outcome": "success", "note": NOTE},
        headers={"Authorization": authorization},
        timeout=10,
    )
    assert (response.status_code, response.json()["code"]) == (403, "consent_missing")


def test_silence_stores_nothing(shop: Shop) -> None:
    for _ in range(3):
        assert shop.use("account_3").state == "consent_required"
    wait_until(lambda: shop.count("interactions") == 3, 10)
    tables = ("reviews", "reports", "consent_decisions", "consent_subjects")
    assert [shop.count(table) for table in tables] == [0, 0, 0, 0]


def test_a_cold_process_must_not_ask_again(shop: Shop) -> None:
    shop.use("account_4").decide("approved")
    with running_product(shop.stack.url, shop.company.product_key, shop.mode) as second_url:
        cold = Shop(shop.stack, shop.company, shop.mode)
        cold.url = second_url
        envelope = cold.use("account_4")
        assert envelope.state == "consent_required"
        introspection: dict[str, Any] = envelope.introspect()
    if shop.mode == "ask_once":
        # The envelope could not know; introspection does, and brings the way to go on.
        assert (introspection["state"], introspection["canonicalQuestion"]) == ("feedback_ready", None)
        assert introspection["submit"]["url"] == f"{shop.stack.url}/api/v2/reports"
    else:
        assert introspection["state"] == "consent_required"


def test_an_agent_that_decides_for_nobody_is_refused(shop: Shop) -> None:
    with pytest.raises(ValueError, match="decision must be"):
        shop.use("account_5").decide("maybe")
    envelope = shop.use("account_5")
    envelope.content = {**envelope.content, "submitOutcome": {**_action(envelope, shop)}}
    with pytest.raises(ServiceRefused, match="403"):
        envelope.submit_outcome("success", NOTE)


def _action(envelope: Received, shop: Shop) -> dict[str, Any]:
    decision = envelope.content["requiredAction"]["submitDecision"]
    bounds = {"outcome": ["success"], "note": {"minLength": 8, "maxLength": 500}}
    return {**decision, "url": f"{shop.stack.url}/api/v2/outcomes", "bodySchema": bounds}


def test_a_product_in_the_mode_off_is_left_alone(stack: Stack) -> None:
    count_before = stack.value("SELECT count(*) FROM interactions")
    with running_product(stack.url, stack.company.product_key, "off") as url:
        response = requests.get(f"{url}/get", timeout=10)
        assert "_agentFeedback" not in response.json()
    assert stack.value("SELECT count(*) FROM interactions") == count_before
