"""POST /api/v2/telemetry/batches, and what becomes of a batch."""

import uuid
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.interactions.models import Interaction, InteractionSession
from app.interactions.service import find_interaction
from app.telemetry import persistence
from app.telemetry.models import WaitingBatch
from tests.factories import Company, bearer, create_company, event, send_events


def stored_row(company: Company, interaction_id: object) -> dict[str, Any]:
    with transaction():
        row = find_interaction(company.environment_id, uuid.UUID(str(interaction_id)))
    assert row is not None
    return row


def count(table: type[Any]) -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(table)) or 0


def test_a_batch_is_accepted_and_then_persisted(client: FlaskClient, company: Company) -> None:
    interaction = event(
        statusCode=200,
        durationMs=12.75,
        customerRef="account_42",
        runtimeHint="ExampleAgent/1.0",
        runtimeHintSource="http",
        sessionRef="visit:7",
        sessionSource="customer",
        occurredAt="2026-01-31T12:00:00.250+02:00",
    )
    response = send_events(client, company, interaction)
    assert (response.status_code, response.json) == (202, {"accepted": 1, "dropped": 0})
    assert persistence.persist_waiting_batches() == 1
    row = stored_row(company, interaction["interactionId"])
    assert (row["surface"], row["operation"], row["classification"]) == ("http_json", "/orders/:id", "unclassified")
    assert (row["status_code"], row["duration_ms"], row["customer_ref"]) == (200, 12.75, "account_42")
    assert row["occurred_at"].isoformat() == "2026-01-31T10:00:00.250000+00:00"
    assert count(WaitingBatch) == 0
    with transaction():
        stored_session = session().get(
            InteractionSession, (company.environment_id, "customer", "visit:7", "account_42")
        )
        assert stored_session is not None


@pytest.mark.parametrize("hint", ["ClaudeBot/1.0; +claudebot@anthropic.com", "Bot/2 (+https://bot.dev; +14155552671)"])
def test_the_contact_address_of_the_calling_software_is_stored_as_given(
    client: FlaskClient, company: Company, hint: str
) -> None:
    interaction = event(runtimeHint=hint)
    assert send_events(client, company, interaction).status_code == 202
    persistence.persist_waiting_batches()
    assert stored_row(company, interaction["interactionId"])["runtime_hint"] == hint


def test_one_bad_event_refuses_the_whole_batch_and_is_pointed_at(client: FlaskClient, company: Company) -> None:
    response = send_events(client, company, event(), event(), event(), event(surface="carrier_pigeon"))
    assert response.status_code == 422
    assert response.json["errors"][0]["pointer"] == "/events/3/surface"
    assert response.json["errors"][0]["allowed"] == ["http_json", "http_html", "http_headers", "mcp"]
    assert count(WaitingBatch) == 0


BAD_EVENTS = [
    ({"interactionId": "not-a-uuid"}, 422, "format"),
    ({"interactionId": "9b2f6d0e3c414d7a8a550f6e2c1b7d90"}, 422, "format"),
    ({"operation": ""}, 422, "length"),
    ({"operation": "x" * 161}, 422, "length"),
    ({"operation": "/search?q=1"}, 422, "pattern"),
    ({"operation": "/a b"}, 422, "pattern"),
    ({"operation": "/a\n"}, 422, "pattern"),
    ({"classification": "maybe"}, 422, "enum"),
    ({"occurredAt": "2026-01-31T12:00:00"}, 422, "format"),
    ({"occurredAt": "yesterday"}, 422, "format"),
    ({"occurredAt": 1700000000}, 422, "type"),
    ({"statusCode": 99}, 422, "range"),
    ({"statusCode": 600}, 422, "range"),
    ({"statusCode": 200.5}, 422, "type"),
    ({"statusCode": "200"}, 422, "type"),
    ({"statusCode": True}, 422, "type"),
    ({"statusCode": None}, 422, "type"),
    ({"durationMs": -0.1}, 422, "range"),
    ({"customerRef": "somebody@example.com"}, 422, "pattern"),
    ({"customerRef": "x" * 161}, 422, "length"),
    ({"sessionRef": "a b"}, 422, "pattern"),
    ({"sessionSource": "guess"}, 422, "enum"),
    ({"runtimeHint": "x" * 201}, 422, "length"),
    ({"runtimeHint": "Agent password=hunter2horse"}, 400, "secret_detected"),
    ({"runtimeHint": "   "}, 422, "format"),
    ({"runtimeHint": "\u200b"}, 422, "format"),
    ({"runtimeHintSource": "smoke"}, 422, "enum"),
    ({"confirmationMethod": "review"}, 422, "enum"),
    ({"outcome": "success"}, 400, "unknown_field"),
    ({"transcript": "x"}, 400, "forbidden_content"),
    ({"surface": {"deep": 1}}, 400, "nested_content"),
]


@pytest.mark.parametrize(("wrong", "status", "code"), BAD_EVENTS, ids=lambda value: str(value)[:40])
def test_a_bad_event_is_told_what_is_wrong(
    client: FlaskClient, company: Company, wrong: dict[str, Any], status: int, code: str
) -> None:
    response = send_events(client, company, event(**wrong))
    assert (response.status_code, response.json["errors"][0]["code"]) == (status, code)
    assert response.json["errors"][0]["pointer"] == f"/events/0/{next(iter(wrong))}"


@pytest.mark.parametrize("field", ["interactionId", "surface", "operation", "classification", "occurredAt"])
def test_a_required_field_is_required(client: FlaskClient, company: Company, field: str) -> None:
    interaction = event()
    del interaction[field]
    response = send_events(client, company, interaction)
    assert (response.status_code, response.json["errors"][0]["code"]) == (422, "required")


@pytest.mark.parametrize(("number", "status"), [(0, 422), (1, 202), (100, 202), (101, 422)])
def test_a_batch_has_1_to_100_events(client: FlaskClient, company: Company, number: int, status: int) -> None:
    assert send_events(client, company, *(event() for _ in range(number))).status_code == status


def test_no_more_than_twenty_problems_are_listed(client: FlaskClient, company: Company) -> None:
    response = send_events(client, company, *(event(surface="x") for _ in range(100)))
    assert len(response.json["errors"]) == 20


@pytest.mark.parametrize("field", ["prompt_text", "secrets"])
def test_an_unknown_field_of_the_batch_is_refused(client: FlaskClient, company: Company, field: str) -> None:
    response = client.post(
        "/api/v2/telemetry/batches", json={"events": [event()], field: 1}, headers=bearer(company.product_key)
    )
    assert (response.status_code, response.json["errors"][0]["code"]) == (400, "unknown_field")


def test_mcp_is_confirmed_at_once(client: FlaskClient, company: Company) -> None:
    interaction = event(surface="mcp", classification="confirmed", confirmationMethod="mcp", operation="find_orders")
    send_events(client, company, interaction)
    persistence.persist_waiting_batches()
    row = stored_row(company, interaction["interactionId"])
    assert (row["classification"], row["confirmed_by"]) == ("confirmed", "mcp")


def test_telemetry_alone_never_confirms_an_http_interaction(client: FlaskClient, company: Company) -> None:
    interaction = event(classification="confirmed", confirmationMethod="mcp")
    send_events(client, company, interaction)
    persistence.persist_waiting_batches()
    row = stored_row(company, interaction["interactionId"])
    assert (row["classification"], row["confirmed_by"]) == ("unclassified", None)


@pytest.mark.parametrize("is_one_batch", [True, False])
def test_the_same_interaction_again_fills_what_is_empty_and_changes_nothing_else(
    client: FlaskClient, company: Company, is_one_batch: bool
) -> None:
    interaction_id = str(uuid.uuid4())
    first = event(interaction_id, operation="/first", statusCode=200)
    second = event(interaction_id, operation="/second", statusCode=500, durationMs=3.5, sessionRef="s1")
    if is_one_batch:
        send_events(client, company, first, second)
    else:
        send_events(client, company, first)
        persistence.persist_waiting_batches()
        send_events(client, company, second)
    persistence.persist_waiting_batches()
    row = stored_row(company, interaction_id)
    assert (row["operation"], row["status_code"], row["duration_ms"]) == ("/first", 200, 3.5)
    assert row["session_ref"] == "s1"
    assert count(Interaction) == 1
    assert count(InteractionSession) == 1


def test_a_batch_that_is_persisted_twice_is_stored_once(client: FlaskClient, company: Company) -> None:
    interaction = [event() for _ in range(10)]
    send_events(client, company, *interaction)
    send_events(client, company, *interaction)
    persistence.persist_waiting_batches()
    assert count(Interaction) == 10


@pytest.mark.parametrize("year", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-12:00"])
def test_any_instant_is_accepted_and_can_be_read_back(client: FlaskClient, company: Company, year: str) -> None:
    interaction = event(occurredAt=year)
    assert send_events(client, company, interaction).status_code == 202
    persistence.persist_waiting_batches()
    assert stored_row(company, interaction["interactionId"])["occurred_at"] is not None


def test_batches_of_different_companies_do_not_meet(app: Flask, client: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    interaction_id = str(uuid.uuid4())
    send_events(client, company, event(interaction_id, operation="/mine"))
    send_events(client, other_company, event(interaction_id, operation="/theirs"))
    persistence.persist_waiting_batches()
    assert stored_row(company, interaction_id)["operation"] == "/mine"
    assert stored_row(other_company, interaction_id)["operation"] == "/theirs"
