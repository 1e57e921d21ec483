"""A shop's ranking changes by what its customers' agents answer, over the shop's own origin and nowhere else."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from agent_feedback import CustomerContext, FieldDefinition
from agent_feedback.agent import Received, from_response

from tests.journeys.running import running_product
from tests.journeys.stack import Stack, wait_until

AS_LISTED = ["boots", "sneakers", "sandals"]
BY_PRICE = ["sneakers", "sandals", "boots"]
PRICE = {"key": "shopping.priority", "value": "price", "provenance": "agent_reports_user_statement", "confidence": 0.9}
LOGIN = {"X-Login": "member"}


class Agent:
    """An agent that shops for one user, or for nobody in particular."""

    def __init__(self, shop_url: str, user: str | None = None) -> None:
        self._url, self._headers = shop_url, {**LOGIN, **({"X-User": user} if user else {})}
        self.response = requests.Response()

    def get(self, path: str = "/products", **headers: str) -> Received:
        self.response = requests.get(self._url + path, headers={**self._headers, **headers}, timeout=30)
        assert self.response.status_code == 200
        actions = from_response(self.response, allowed_origins=[])
        assert actions
        return actions

    @property
    def products(self) -> list[str]:
        names: list[str] = self.response.json()["products"]
        return names


@pytest.fixture(scope="module")
def shop_url(stack: Stack) -> Iterator[str]:
    keys = {"key": stack.company.product_key, "company_key": stack.company.company_key}
    with running_product(stack.url, app="tests.journeys.shop:app", **keys) as url:
        yield url


def user() -> str:
    return f"user_{uuid.uuid4()}"


def test_an_answer_ranks_the_immediate_repetition_and_no_other_visit(stack: Stack, shop_url: str) -> None:
    agent = Agent(shop_url)
    actions = agent.get()
    assert agent.products == AS_LISTED
    assert actions.context
    assert [entry["key"] for entry in actions.context.catalog] == ["shopping.priority"]
    # The shop alone is named: an agent is never sent to the service with it.
    assert stack.url not in json.dumps(actions.context.content)
    result = actions.answer([PRICE])
    assert (result["state"], result["interactionId"]) == ("answered", next(iter(actions.retry_headers.values())))
    second_actions = agent.get(**actions.retry_headers)
    assert agent.products == BY_PRICE
    assert second_actions.context is None
    # The same words at another operation, and another visit, know nothing of it.
    page_actions = agent.get("/page", **actions.retry_headers)
    assert page_actions.context
    assert ", ".join(AS_LISTED) in agent.response.text
    agent.get()
    assert agent.products == AS_LISTED


def test_an_answer_confirms_the_interaction_that_the_envelope_names(stack: Stack, shop_url: str) -> None:
    actions = Agent(shop_url).get()
    interaction = actions.retry_headers["Service-Context-Interaction"]
    actions.answer([PRICE])
    row = "SELECT classification, surface, operation, status_code FROM interactions WHERE id = %s"
    wait_until(lambda: stack.query(row, interaction) == [("confirmed", "http_json", "/products", 200)], 20)


def test_a_known_user_is_asked_once_and_remembered(stack: Stack, shop_url: str) -> None:
    name = user()
    agent = Agent(shop_url, name)
    actions = agent.get()
    assert actions.retry_headers == {}
    actions.answer([{**PRICE, "remember": True}])
    for _ in range(6):
        # Whichever of the shop's processes answers.
        second_actions = agent.get()
        assert (agent.products, second_actions.context) == (BY_PRICE, None)
    other_agent = Agent(shop_url, user())
    other_agent.get()
    assert other_agent.products == AS_LISTED
    query = "SELECT count(*) FROM {} t WHERE t::text LIKE %s"
    for table in ("customers", "customer_references", "signals", "enrichment_requests"):
        assert stack.value(query.format(table), f"%{name}%") == 0


def test_a_ranking_and_what_came_of_it_are_recorded(stack: Stack, shop_url: str) -> None:
    agent = Agent(shop_url, user())
    agent.get().answer([{**PRICE, "remember": True}])
    agent.get()
    decision = agent.response.json()["decision"]
    order = requests.post(f"{shop_url}/orders/{decision}", headers=LOGIN, timeout=30)
    assert order.json()["outcome"] == "conversion"
    row = "SELECT variant, cardinality(signal_ids) FROM personalization_decisions WHERE id = %s"
    assert stack.query(row, decision) == [("by_price", 1)]


def test_a_refusal_is_honoured_and_an_explicit_approval_starts_anew(shop_url: str) -> None:
    agent = Agent(shop_url, user())
    assert agent.get().decline_context()["state"] == "declined"
    later_actions = agent.get()
    assert later_actions.context
    assert (agent.products, later_actions.context.state, later_actions.context.catalog) == (AS_LISTED, "declined", [])
    with pytest.raises(ValueError, match="in the state declined"):
        later_actions.answer([PRICE])
    assert later_actions.context.decide("approved")["state"] == "answer_ready"
    later_actions.answer([{**PRICE, "remember": True}])
    agent.get()
    assert agent.products == BY_PRICE


def test_what_is_not_known_leaves_the_ranking_as_it_is(shop_url: str) -> None:
    agent = Agent(shop_url)
    actions = agent.get()
    assert actions.answer([], status="no_relevant_context")["state"] == "no_relevant_context"
    agent.get(**actions.retry_headers)
    assert agent.products == AS_LISTED


def test_a_page_asks_and_is_ranked_like_the_list(shop_url: str) -> None:
    agent = Agent(shop_url, user())
    agent.get("/page").answer([{**PRICE, "remember": True}])
    response = requests.get(f"{shop_url}/page", headers=agent._headers, timeout=30)
    assert ", ".join(BY_PRICE) in response.text
    assert "agent-service-context" not in response.text


def test_the_relay_takes_no_other_words_than_the_catalogs(shop_url: str) -> None:
    actions = Agent(shop_url).get()
    assert actions.context
    action = actions.context.content["submit"]

    def post(body: Any, authorization: str = action["authorization"]) -> tuple[int, str]:
        response = requests.post(
            shop_url + action["url"], json=body, headers={"Authorization": authorization}, timeout=30
        )
        assert response.headers["Cache-Control"] == "private, no-store"
        return response.status_code, response.json().get("code", "")

    item = {**PRICE, "type": "preference"}
    assert post({"status": "answered", "items": [{**item, "value": "beauty"}]})[0] == 422
    assert post({"status": "answered", "items": [{**item, "prompt": "x"}]}) == (400, "invalid_customer_context_body")
    assert post({}, "Bearer afr2_x") == (401, "invalid_customer_context_handle")
    assert post({"status": "declined", "items": []}, "Bearer aqr1_" + "0" * 32 + "." + "A" * 43)[0] == 401
    assert post({"status": "answered", "items": [item]}) == (200, "")
    assert requests.get(shop_url + action["url"], timeout=30).json()["code"] == "not_found"


def test_a_product_asks_questions_of_its_own(stack: Stack) -> None:
    product = stack.flask("product", "create", "--workspace", str(stack.company.workspace_id), "--name", "Shoes")
    environment = stack.flask("environment", "create", "--product", product["productId"], "--name", "production")
    keys = {
        name: stack.flask("key", "create", "--environment", environment["environmentId"], "--kind", kind)["key"]
        for name, kind in (("key", "product"), ("company_key", "company"))
    }
    fields = CustomerContext(keys["company_key"], endpoint=stack.url, timeout=30).fields
    definition = FieldDefinition("The size that fits", "customer_size", ["small", "large"], operations=["/sizes"])
    fields.put("shop.size", definition, raise_errors=True)
    field_list = fields.list(raise_errors=True)
    assert field_list
    assert (field_list["legacyCatalogActive"], [field["key"] for field in field_list["fields"]]) == (
        False,
        ["shop.size"],
    )
    with running_product(stack.url, app="tests.journeys.shop:app", mode="off", **keys) as url:
        agent = Agent(url)
        actions = agent.get("/sizes")
        assert actions.state == "not_requested"
        actions.answer([{"key": "shop.size", "value": "large", "provenance": "agent_reports_current_task"}])
        response = requests.get(f"{url}/sizes", headers={**LOGIN, **actions.retry_headers}, timeout=30).json()
        assert response == {"size": "large", "categories": ["customer_size"]}
        # Here the shop's own question replaces the one that it names, so that nothing is asked.
        plain = requests.get(f"{url}/products", headers=LOGIN, timeout=30)
        assert "_service" not in plain.json()
    assert fields.delete("shop.size", raise_errors=True)


def test_a_service_that_is_away_leaves_the_shop_as_it_is(stack: Stack, shop_url: str) -> None:
    actions = Agent(shop_url).get()
    with stack.stop_process("web"):
        for _ in range(20):
            response = requests.get(f"{shop_url}/products", headers=LOGIN, timeout=30)
            assert (response.status_code, response.json()["products"]) == (200, AS_LISTED)
            assert "_service" not in response.json()
        assert actions.context
        action = actions.context.content["submit"]
        response = requests.post(
            shop_url + action["url"],
            json={"status": "no_relevant_context", "items": []},
            headers={"Authorization": action["authorization"]},
            timeout=30,
        )
        assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
        assert response.json()["retryable"] is True
    stack.wait_until_web_answers()
    # It is asked again after its pause, and what the agent could not send arrives now.
    wait_until(lambda: "_service" in requests.get(f"{shop_url}/products", headers=LOGIN, timeout=30).json(), 30)
    assert actions.answer([], status="no_relevant_context")["accepted"]
