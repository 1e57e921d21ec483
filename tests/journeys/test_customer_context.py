"""The whole life of a context over HTTP: ask, answer, retrieve, decide, convert, opt out, ask again, expire."""

import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests

from tests.context_api import PERSONALIZATION, handle, item
from tests.factories import bearer
from tests.journeys.stack import Stack, wait_until

USER = "journey-user-8843"


class HttpContextApi:
    """A company and its customer's agent, over real HTTP."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    def post(self, path: str, body: Any, token: str | None = None) -> Any:
        response = requests.post(
            f"{self.stack.url}/api/v2{path}",
            json=body,
            headers=bearer(token or self.stack.company.company_key),
            timeout=10,
        )
        assert response.status_code == 200, response.text
        return response.json()

    def ask(self, **details: Any) -> Any:
        body = {"interactionId": str(uuid.uuid4()), "operation": "/hotels", "surface": "http_json", "remember": True}
        return self.post("/enrichment/requests", {**body, "purpose": PERSONALIZATION, **details})

    def answer(self, request: Any, *items: Any) -> Any:
        return self.post("/enrichment/answers", {"status": "answered", "items": list(items)}, handle(request))

    def context_values(self, **references: str) -> dict[str, str]:
        retrieval = self.post("/customer-context", {"purpose": PERSONALIZATION, **references})
        return {entry["key"]: entry["value"] for entry in retrieval["items"]}


@pytest.fixture
def context_api(stack: Stack) -> HttpContextApi:
    stack.wait_until_web_answers()
    return HttpContextApi(stack)


def test_the_whole_life_of_a_context(context_api: HttpContextApi) -> None:
    stack = context_api.stack
    request = context_api.ask(userRef=USER, statusCode=200, durationMs=8)
    signals = context_api.answer(request, item(remember=True))["signals"]
    query = "SELECT confirmed_by FROM interactions WHERE id = %s AND classification = 'confirmed'"
    wait_until(lambda: stack.query(query, request["interactionId"]) == [("answer",)], 30)

    retrieval = context_api.post("/customer-context", {"purpose": PERSONALIZATION, "userRef": USER})
    assert retrieval["items"] == signals
    new_decision = {
        "externalDecisionId": f"d-{USER}",
        "contextRetrievalId": retrieval["retrievalId"],
        "signalIds": [signals[0]["signalId"]],
        "variant": "quiet-first",
    }
    decision = context_api.post("/personalization/decisions", new_decision)
    new_outcome = {"externalOutcomeId": f"o-{USER}", "decisionId": decision["decision"]["id"], "outcome": "conversion"}
    outcome = context_api.post("/personalization/outcomes", new_outcome)

    choice = {"decision": "declined"}
    assert context_api.post("/enrichment/consent/decisions", choice, handle(request))["state"] == "declined"
    assert context_api.context_values(userRef=USER) == {}
    second_request = context_api.ask(userRef=USER)
    assert (second_request["state"], second_request["submit"]) == ("declined", None)
    context_api.post("/enrichment/consent/decisions", {"decision": "approved"}, handle(second_request))
    assert context_api.context_values(userRef=USER) == {}

    ends_at = datetime.now(UTC) + timedelta(seconds=3)
    context_api.answer(second_request, item(value="social", remember=True, expiresAt=ends_at.isoformat()))
    assert context_api.context_values(userRef=USER) == {"travel.stay_style": "social"}
    wait_until(lambda: context_api.context_values(userRef=USER) == {}, 30)
    assert datetime.now(UTC) >= ends_at
    assert context_api.post("/personalization/decisions", new_decision) == decision
    assert context_api.post("/personalization/outcomes", new_outcome) == outcome


def test_what_was_answered_with_200_survives_the_death_of_every_process(context_api: HttpContextApi) -> None:
    stack = context_api.stack
    request = context_api.ask(userRef="journey-user-9001")
    context_api.answer(request, item(remember=True))
    stack.supervisor.kill("web")
    stack.supervisor.restart_dead()
    stack.wait_until_web_answers()
    assert context_api.context_values(userRef="journey-user-9001") == {"travel.stay_style": "quiet_boutique"}
    assert context_api.answer(request, item(remember=True))["state"] == "answered"


def test_a_revoked_company_key_is_refused_everywhere_within_a_second(context_api: HttpContextApi) -> None:
    stack = context_api.stack
    environment = str(stack.company.environment_id)
    key = stack.flask("key", "create", "--environment", environment, "--kind", "company")["key"]
    query = {"purpose": PERSONALIZATION, "userRef": "journey-user-9002"}
    context_api.post("/customer-context", query, key)
    stack.flask("key", "revoke", key.split("_")[2])
    time.sleep(1)
    for _ in range(12):
        response = requests.post(f"{stack.url}/api/v2/customer-context", json=query, headers=bearer(key), timeout=10)
        assert response.status_code == 401


def test_no_reference_is_logged(context_api: HttpContextApi) -> None:
    context_api.ask(userRef="journey-user-9003", anonymousRef="journey-visitor-9004")
    wait_until(lambda: "/api/v2/enrichment/requests" in context_api.stack.log.read_text(), 10)
    assert "journey-" not in context_api.stack.log.read_text()
