"""What arrives and what is sent on, at the end of the set-up page."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.core import clock
from app.core.database import transaction
from app.webhooks import log
from tests.dashboard.history import insert, words
from tests.factories import Company, create_company, sign_in


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


def delivery(client: FlaskClient, query: str = "") -> str:
    return words(client.get(f"/set-up{query}").text).partition(" Delivery ")[2]


def count_events(company: Company, events: int, measure: str, name: str = "", **columns: Any) -> None:
    day_on = clock.now().date() - timedelta(days=columns.pop("days_ago", 0))
    sender = {"source": "telemetry", "sdk": "python", "version": "1.0.0"}
    row = {"environment_id": company.environment_id, "day_on": day_on, "measure": measure, "name": name}
    insert("ledger_days", {**sender, **row, "events": events, **columns})


def add_endpoint(company: Company, host: str, **columns: Any) -> uuid.UUID:
    values = {
        "environment_id": company.environment_id,
        "id": uuid.uuid4(),
        "url": f"https://{host}/secret-path",
        "event_types": ["review.created", "report.created"],
        "sealed_secret": b"",
        "created_at": clock.now(),
        **columns,
    }
    insert("webhook_endpoints", values)
    return uuid.UUID(str(values["id"]))


def add_delivery(company: Company, endpoint_id: uuid.UUID, minutes_ago: int, **columns: Any) -> None:
    at = clock.now() - timedelta(minutes=minutes_ago)
    values = {
        "environment_id": company.environment_id,
        "id": uuid.uuid4(),
        "endpoint_id": endpoint_id,
        "message_id": uuid.uuid4(),
        "type": "review.created",
        "interaction_ids": [],
        "occurred_at": at,
        "created_at": at,
        "expires_at": at + timedelta(days=1),
        "state": "delivered",
        "status_code": 204,
        **columns,
    }
    insert("webhook_deliveries", {**values, "interaction_ids": "{}"})


def test_what_became_of_events_is_summed_over_the_days(owner: FlaskClient, company: Company) -> None:
    count_events(company, 1_000, "accepted")
    count_events(company, 234, "accepted", version="2.0.0", days_ago=6)
    count_events(company, 3, "refused", "validation_failed")
    count_events(company, 4, "refused", "validation_failed", days_ago=1)
    count_events(company, 2, "refused", "invalid_credentials")
    count_events(company, 5, "lost", "queue_full")
    count_events(company, 6, "duplicate", source="evidence")
    count_events(company, 70, "accepted", days_ago=7)
    with transaction():
        other_company = create_company()
    count_events(other_company, 80, "accepted")
    assert (
        "telemetry 1234 0 0 2 invalid_credentials, 7 validation_failed 5 queue_full "
        "evidence 0 6 0 – – Of the last 7 days." in delivery(owner)
    )
    assert "telemetry 1304 0 0 " in delivery(owner, "?days=14")


def test_endpoints_of_webhooks_have_their_state_and_newest_delivery(
    owner: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    working = add_endpoint(company, "a.example.com")
    failing = add_endpoint(company, "b.example.com", failing_since=now)
    add_endpoint(company, "c.example.com", disabled_at=now, disabled_reason="gone")
    add_delivery(company, working, 1)
    add_delivery(company, working, 5, state="failed", status_code=500)
    add_delivery(company, failing, 2, state="pending", status_code=None, error="timeout")
    with transaction():
        other_company = create_company()
    add_endpoint(other_company, "theirs.example.com")
    text = delivery(owner)
    assert "a.example.com review.created, report.created active review.created, delivered (204) " in text
    assert "b.example.com review.created, report.created failing since " in text
    assert "review.created, pending (timeout) " in text
    assert "c.example.com review.created, report.created disabled gone, " in text
    assert text.count("none lately") == 1
    assert "theirs.example.com" not in text
    assert "secret-path" not in owner.get("/set-up").text
    monkeypatch.setattr(log, "NEWEST_SCAN", 1)
    assert delivery(owner).count("none lately") == 2


def test_without_events_and_endpoints_the_page_says_so(owner: FlaskClient) -> None:
    text = delivery(owner)
    assert "No event has come in these days. Webhooks None is set up." in text
