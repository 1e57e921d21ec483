"""Companies, events and requests for tests."""

import hashlib
import itertools
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agent_feedback.capability import ProductKey, mint
from agent_feedback.interaction_id import new_interaction_id
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.accounts import service as accounts
from app.core.database import transaction
from app.products import service as products
from app.products.rules import KeyKind, Mode

_numbers = itertools.count(1)

TEST_URL = "http://127.0.0.1:8000"
"""The public URL of the app under test."""


def cookie_name(name: str, url: str = TEST_URL) -> str:
    """Return the name of a cookie of the copy at a public URL, without the prefix of production."""
    return f"agent_feedback_{name}_{hashlib.sha256(url.encode()).hexdigest()[:8]}"


SESSION_COOKIE = cookie_name("session")
FORM_COOKIE = cookie_name("form")

NOTE = "Every field matched what the documentation promised."


@dataclass(frozen=True)
class Company:
    """A workspace with one product and one environment, the texts of its keys, and how its owner signs in."""

    workspace_id: uuid.UUID
    product_id: uuid.UUID
    environment_id: uuid.UUID
    product_key: str
    company_key: str
    email: str = ""
    password: str = ""

    def capability(self, interaction_id: str | None = None, issued_at: int | None = None, **claims: Any) -> str:
        return mint(
            ProductKey(self.product_key),
            interaction_id or new_interaction_id(),
            int(time.time()) if issued_at is None else issued_at,
            **claims,
        )


def create_company(mode: Mode = Mode.NEVER_ASK) -> Company:
    """Create a company, within a transaction."""
    workspace = accounts.create_workspace(f"owner{next(_numbers)}@example.com", "Example company")
    product = products.create_product(workspace.id, "Example product")
    environment = products.create_environment(product.id, "production")
    products.set_environment(environment.id, mode=mode)
    return Company(
        workspace.id,
        product.id,
        environment.id,
        products.create_key(environment.id, KeyKind.PRODUCT).text,
        products.create_key(environment.id, KeyKind.COMPANY).text,
        workspace.email,
        workspace.password,
    )


def create_read_key(environment_id: uuid.UUID) -> str:
    """Create a read key of an environment, within a transaction of its own, and return its text."""
    with transaction():
        return products.create_key(environment_id, KeyKind.READ).text


def event(interaction_id: str | None = None, **details: Any) -> dict[str, Any]:
    """Return a telemetry event."""
    return {
        "interactionId": interaction_id or new_interaction_id(),
        "surface": "http_json",
        "operation": "/orders/:id",
        "classification": "unclassified",
        "occurredAt": datetime.now(UTC).isoformat(),
        **details,
    }


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def send_events(
    client: FlaskClient, company: Company, *events: dict[str, Any], headers: dict[str, str] | None = None
) -> TestResponse:
    sent_headers = {**bearer(company.product_key), **(headers or {})}
    return client.post("/api/v2/telemetry/batches", json={"events": list(events)}, headers=sent_headers)


def sign_in(client: FlaskClient, company: Company, **details: Any) -> TestResponse:
    """Sign the company's owner in; `details` may change a part of what is sent."""
    credentials = {"email": company.email, "password": company.password}
    return client.post("/api/session", json={**credentials, **details.pop("json", {})}, **details)


def send_review(client: FlaskClient, token: str, outcome: str = "success", note: str = NOTE) -> TestResponse:
    return client.post("/api/v2/outcomes", json={"outcome": outcome, "note": note}, headers=bearer(token))


SOURCE = {"kind": "cdn_log", "provider": "example-cdn", "sourceId": "source_0001"}


def observation(event_id: str | None = None, **details: Any) -> dict[str, Any]:
    """Return an evidence event: the fetch of an agent, by default."""
    return {
        "eventId": event_id or f"event_{uuid.uuid4().hex}",
        "observedAt": datetime.now(UTC).isoformat(),
        "method": "GET",
        "responseStatus": 200,
        **({} if {"agentToken", "referrerHost"} & set(details) else {"agentToken": "ChatGPT-User"}),
        **details,
    }


def send_evidence(
    client: FlaskClient, company: Company, *events: dict[str, Any], source: dict[str, str] | None = None
) -> TestResponse:
    body = {"schemaVersion": 1, "source": {**SOURCE, **(source or {})}, "events": list(events)}
    return client.post("/api/v1/evidence/http-requests/batches", json=body, headers=bearer(company.company_key))
