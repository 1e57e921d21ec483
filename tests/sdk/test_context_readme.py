"""The example for customer context in the package's README runs as it stands there."""

from typing import Any

import pytest
import requests
from agent_feedback.agent import from_response

from tests.sdk.endpoint import COMPANY_KEY, KEY, Endpoint
from tests.sdk.readme import examples_of
from tests.sdk.shop import context_action, json_reply, serving_app

ITEM = {"signalId": "s1", "key": "shopping.priority", "type": "preference", "value": "price", "summary": "Price."}
RETRIEVAL = {
    **ITEM,
    "provenance": "agent_reports_user_statement",
    "confidence": None,
    "allowedUses": ["product_personalization"],
    "remembered": False,
    "expiresAt": "2030-01-01T00:00:00Z",
}


@pytest.fixture
def example(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name, value in (("KEY", KEY), ("COMPANY_KEY", COMPANY_KEY), ("URL", endpoint.url)):
        monkeypatch.setenv(f"AGENT_FEEDBACK_{name}", value)
    names: dict[str, Any] = {"__name__": "example"}
    exec(examples_of("Customer context")[0].code, names)
    names["feedback"].telemetry.put = lambda event: None
    # A quarter of a second is for products; a busy machine that tests takes longer now and then.
    client = names["feedback"].customer_context._client
    client._access = client._access._replace(timeout=10)
    return names


def test_the_ranking_changes_by_the_answer(endpoint: Endpoint, example: dict[str, Any]) -> None:
    endpoint.replies = [json_reply(context_action(endpoint.url))]
    with serving_app(example["app"]) as url:
        first = requests.get(f"{url}/shoes", timeout=10)
        assert [shoe["name"] for shoe in first.json()["shoes"]] == ["boots", "sneakers"]
        actions = from_response(first, allowed_origins=[endpoint.url])
        assert actions
        endpoint.replies = [json_reply({"accepted": True}), json_reply({"retrievalId": "r1", "items": [RETRIEVAL]})]
        actions.answer([{"key": "shopping.priority", "value": "price", "provenance": "agent_reports_user_statement"}])
        second = requests.get(f"{url}/shoes", headers=actions.retry_headers, timeout=10)
        assert [shoe["name"] for shoe in second.json()["shoes"]] == ["sneakers", "boots"]
    assert [request.path for request in endpoint.requests] == [
        "/api/v2/enrichment/requests",
        "/api/v2/enrichment/answers",
        "/api/v2/customer-context",
    ]
    assert endpoint.requests[2].content["interactionId"] == endpoint.requests[0].content["interactionId"]
