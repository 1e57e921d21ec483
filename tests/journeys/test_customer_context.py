"""The whole life of a context over HTTP: ask, answer, retrieve, decide, convert, opt out, ask again, expire."""

import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests

from tests.conversations import PERSONALIZATION, handle, item
from tests.factories import bearer
from tests.journeys.stack import Stack, wait_until

USER = "journey-user-8843"


class Talker:
    """A company and its customer's agent, over real HTTP."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    def post(self, path: str, body: Any, token: str | None = None) -> Any:
        answer = requests.post(
            f"{self.stack.url}/api/v2{path}",
            json=body,
            headers=bearer(token or self.stack.company.company_key),
            timeout=10,
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def ask(self, **details: Any) -> Any:
        body = {"interactionId": str(uuid.uuid4()), "operation": "/hotels", "surface": "http_json", "remember": True}
        return self.post("/enrichment/requests", {**body, "purpose": PERSONALIZATION, **details})

    def answer(self, asked: Any, *items: Any) -> Any:
        return self.post("/enrichment/answers", {"status": "answered", "items": list(items)}, handle(asked))

    def known(self, **references: str) -> dict[str, str]:
        found = self.post("/customer-context", {"purpose": PERSONALIZATION, **references})
        return {entry["key"]: entry["value"] for entry in found["items"]}


@pytest.fixture
def talker(stack: Stack) -> Talker:
    stack.wait_until_web_answers()
    return Talker(stack)


def test_the_whole_life_of_a_context(talker: Talker) -> None:
    stack = talker.stack
    asked = talker.ask(userRef=USER, statusCode=200, durationMs=8)
    signals = talker.answer(asked, item(remember=True))["signals"]
    confirmed = "SELECT confirmed_by FROM interactions WHERE id = %s AND classification = 'confirmed'"
    wait_until(lambda: stack.query(confirmed, asked["interactionId"]) == [("answer",)], 30)

    found = talker.post("/customer-context", {"purpose": PERSONALIZATION, "userRef": USER})
    assert found["items"] == signals
    made = {
        "externalDecisionId": f"d-{USER}",
        "contextRetrievalId": found["retrievalId"],
        "signalIds": [signals[0]["signalId"]],
        "variant": "quiet-first",
    }
    decision = talker.post("/personalization/decisions", made)
    told = {"externalOutcomeId": f"o-{USER}", "decisionId": decision["decision"]["id"], "outcome": "conversion"}
    outcome = talker.post("/personalization/outcomes", told)

    choice = {"decision": "declined"}
    assert talker.post("/enrichment/consent/decisions", choice, handle(asked))["state"] == "declined"
    assert talker.known(userRef=USER) == {}
    again = talker.ask(userRef=USER)
    assert (again["state"], again["submit"]) == ("declined", None)
    talker.post("/enrichment/consent/decisions", {"decision": "approved"}, handle(again))
    assert talker.known(userRef=USER) == {}

    ends_at = datetime.now(UTC) + timedelta(seconds=3)
    talker.answer(again, item(value="social", remember=True, expiresAt=ends_at.isoformat()))
    assert talker.known(userRef=USER) == {"travel.stay_style": "social"}
    wait_until(lambda: talker.known(userRef=USER) == {}, 30)
    assert datetime.now(UTC) >= ends_at
    assert talker.post("/personalization/decisions", made) == decision
    assert talker.post("/personalization/outcomes", told) == outcome


def test_what_was_answered_with_200_survives_the_death_of_every_process(talker: Talker) -> None:
    stack = talker.stack
    asked = talker.ask(userRef="journey-user-9001")
    talker.answer(asked, item(remember=True))
    stack.supervisor.kill("web")
    stack.supervisor.restart_dead()
    stack.wait_until_web_answers()
    assert talker.known(userRef="journey-user-9001") == {"travel.stay_style": "quiet_boutique"}
    assert talker.answer(asked, item(remember=True))["state"] == "answered"


def test_a_revoked_company_key_is_refused_everywhere_within_a_second(talker: Talker) -> None:
    stack = talker.stack
    environment = str(stack.company.environment_id)
    key = stack.flask("key", "create", "--environment", environment, "--kind", "company")["key"]
    query = {"purpose": PERSONALIZATION, "userRef": "journey-user-9002"}
    talker.post("/customer-context", query, key)
    stack.flask("key", "revoke", key.split("_")[2])
    time.sleep(1)
    for _ in range(12):
        refused = requests.post(f"{stack.url}/api/v2/customer-context", json=query, headers=bearer(key), timeout=10)
        assert refused.status_code == 401


def test_no_reference_is_logged(talker: Talker) -> None:
    talker.ask(userRef="journey-user-9003", anonymousRef="journey-visitor-9004")
    wait_until(lambda: "/api/v2/enrichment/requests" in talker.stack.log.read_text(), 10)
    assert "journey-" not in talker.stack.log.read_text()
