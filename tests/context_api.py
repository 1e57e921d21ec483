"""Requests of a company and of agents about a customer's context."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import Company, bearer

PERSONALIZATION = "product_personalization"
ADVERTISING = "targeted_advertising"

STATEMENT = "agent_reports_user_statement"


class Clock:
    """A clock that moves only by `advance`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = datetime.now(UTC)
        monkeypatch.setattr("app.core.clock.now", lambda: self.now)

    def advance(self, **duration: float) -> None:
        self.now += timedelta(**duration)


@dataclass(frozen=True)
class ContextApi:
    """The requests of one company and of its customers' agents."""

    client: FlaskClient
    company: Company

    def post(self, path: str, body: Any, token: str | None = None) -> TestResponse:
        return self.client.post(f"/api/v2{path}", json=body, headers=bearer(token or self.company.company_key))

    def ask(self, **details: Any) -> TestResponse:
        body = {
            "interactionId": str(uuid.uuid4()),
            "operation": "/search",
            "surface": "http_json",
            "purpose": PERSONALIZATION,
            "remember": True,
        }
        body |= details
        return self.post("/enrichment/requests", {name: value for name, value in body.items() if value is not None})

    def answer(self, request: Any, *items: dict[str, Any], status: str = "answered") -> TestResponse:
        return self.post("/enrichment/answers", {"status": status, "items": list(items)}, handle(request))

    def choose(self, request: Any, decision: str, **details: Any) -> TestResponse:
        return self.post("/enrichment/consent/decisions", {"decision": decision, **details}, handle(request))

    def inspect(self, request: Any) -> TestResponse:
        return self.post("/enrichment/requests/inspect", None, handle(request))

    def retrieve(self, purpose: str = PERSONALIZATION, **references: str) -> TestResponse:
        return self.post("/customer-context", {"purpose": purpose, **references})

    def context_values(self, purpose: str = PERSONALIZATION, **references: str) -> dict[str, str]:
        """Return the values of the retrieved items by their keys."""
        response = self.retrieve(purpose, **references)
        assert response.status_code == 200, response.data
        return {item["key"]: item["value"] for item in response.json["items"]}

    def put_field(self, key: str, **details: Any) -> TestResponse:
        body = {"label": "Preferred pace", "type": "preference", "allowedValues": ["slow", "fast"], **details}
        headers = bearer(self.company.company_key)
        return self.client.put(f"/api/v2/enrichment/fields/{key}", json=body, headers=headers)


def handle(request: Any) -> str:
    """Return the handle of a request from its action."""
    authorization: str = request["consent"]["authorization"]
    return authorization.removeprefix("Bearer ")


def item(key: str = "travel.stay_style", value: str = "quiet_boutique", **details: Any) -> dict[str, Any]:
    return {"key": key, "type": "preference", "value": value, "provenance": STATEMENT, **details}
