"""`flask webhook`."""

import uuid
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from app.events.models import EventSubscription
from app.webhooks import delivery, log, service
from app.webhooks.models import WebhookEndpoint
from app.webhooks.rules import MAX_ENDPOINTS, DisabledReason
from tests.cli.test_commands import run, run_failing
from tests.factories import Company, create_company
from tests.webhooks.outbox import PUBLIC_URL, get_endpoint, list_rows
from tests.webhooks.receiver import Receiver
from tests.webhooks.test_delivery import review_and_promote


def create(app: Flask, company: Company, *types: str, url: str = PUBLIC_URL) -> Any:
    events = [option for name in types or ("review.created",) for option in ("--event", name)]
    return run(app, "webhook", "create", "--environment", str(company.environment_id), "--url", url, *events)


def test_an_endpoint_is_created_and_its_secret_is_shown_once(app: Flask, company: Company) -> None:
    endpoint = create(app, company, "review.created", "key.revoked", "review.created")
    assert endpoint["secret"].startswith("whsec_")
    assert (endpoint["url"], endpoint["events"]) == (PUBLIC_URL, ["key.revoked", "review.created"])
    (row,) = run(app, "webhook", "list", "--environment", str(company.environment_id))
    assert row == {name: value for name, value in endpoint.items() if name != "secret"}
    assert endpoint["secret"].encode() not in get_endpoint().sealed_secret


def test_lists_hold_the_environment_that_was_asked_for(app: Flask, company: Company) -> None:
    with transaction():
        other_company = create_company()
    create(app, company)
    other_endpoint = create(app, other_company)
    (row,) = run(app, "webhook", "list", "--environment", str(other_company.environment_id))
    assert row["endpointId"] == other_endpoint["endpointId"]
    assert len(run(app, "webhook", "list")) == 2


def test_changes_are_in_the_audit_log_without_the_url(app: Flask, company: Company) -> None:
    url = "https://93.184.215.14/a-secret-of-the-receiver"
    endpoint_id = create(app, company, url=url)["endpointId"]
    assert run(app, "webhook", "rotate", endpoint_id)["secret"].startswith("whsec_")
    run(app, "webhook", "enable", endpoint_id)
    run(app, "webhook", "remove", endpoint_id)
    assert run(app, "webhook", "list") == []
    with transaction():
        statement = select(AuditEntry).where(AuditEntry.subject == endpoint_id).order_by(AuditEntry.id)
        entries = list(session().scalars(statement))
    assert [entry.action for entry in entries] == ["webhook.created", "webhook.rotated", "webhook.removed"]
    assert all(entry.workspace_id == company.workspace_id for entry in entries)
    assert all(entry.details["host"] == "93.184.215.14" for entry in entries)
    assert "a-secret" not in str([entry.details for entry in entries])


def test_the_outbox_takes_what_the_endpoints_take(app: Flask, company: Company) -> None:
    create(app, company, "review.created", "report.created")
    endpoint = create(app, company, "review.created", "key.revoked")
    assert list_rows(EventSubscription, "type") == [("key.revoked",), ("report.created",), ("review.created",)]
    run(app, "webhook", "remove", endpoint["endpointId"])
    assert list_rows(EventSubscription, "type") == [("report.created",), ("review.created",)]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://93.184.215.14/", "by https only"),
        ("https://127.0.0.1/", "not on the public internet"),
        ("https://localhost/", "not on the public internet"),
        ("https://localhost.:9313/", "neither a name nor an IP address"),
        ("https://user:password@93.184.215.14/", "credentials"),
    ],
)
def test_an_endpoint_that_nothing_would_be_sent_to_is_refused(
    app: Flask, company: Company, url: str, sentence: str
) -> None:
    arguments = ["--environment", str(company.environment_id), "--url", url, "--event", "review.created"]
    assert sentence in run_failing(app, "webhook", "create", *arguments)
    assert list_rows(WebhookEndpoint, "id") == []


def test_an_endpoint_whose_url_is_refused_by_now_can_be_removed(app: Flask, company: Company) -> None:
    endpoint_id = create(app, company)["endpointId"]
    with transaction():
        session().execute(update(WebhookEndpoint).values(url="https://localhost.:9313/"))
    run(app, "webhook", "rotate", endpoint_id)
    run(app, "webhook", "remove", endpoint_id)
    assert run(app, "webhook", "list") == []


def test_what_is_unknown_is_said(app: Flask, company: Company) -> None:
    unknown = str(uuid.uuid4())
    arguments = ["--url", PUBLIC_URL, "--event", "review.created"]
    assert "no environment" in run_failing(app, "webhook", "create", "--environment", unknown, *arguments)
    arguments = ["--environment", str(company.environment_id), "--url", PUBLIC_URL, "--event", "review.deleted"]
    assert "review.created" in run_failing(app, "webhook", "create", *arguments)
    for name in ("rotate", "enable", "remove"):
        assert "no webhook endpoint" in run_failing(app, "webhook", name, unknown)
    assert "no delivery" in run_failing(app, "webhook", "replay", unknown)


def test_an_environment_has_a_bounded_number_of_endpoints(app: Flask, company: Company) -> None:
    for _ in range(MAX_ENDPOINTS):
        create(app, company)
    arguments = ["--environment", str(company.environment_id), "--url", PUBLIC_URL, "--event", "review.created"]
    assert f"at most {MAX_ENDPOINTS}" in run_failing(app, "webhook", "create", *arguments)


def test_deliveries_are_listed_and_replayed(
    client: FlaskClient, private_app: Flask, company: Company, receiver: Receiver
) -> None:
    endpoint = create(private_app, company, url=receiver.url)
    receiver.answer_with(503, 200)
    review_and_promote(client, company, 2)
    delivery.deliver_due()
    of_environment = ["--environment", str(company.environment_id)]
    rows = run(private_app, "webhook", "deliveries", *of_environment)
    assert {row["webhookId"] for row in rows} == {webhook.id for webhook in receiver.webhooks}
    assert {row["endpointId"] for row in rows} == {endpoint["endpointId"]}
    (row,) = run(private_app, "webhook", "deliveries", *of_environment, "--state", "pending")
    assert (row["statusCode"], row["attempts"], row["error"]) == (503, 1, "status")
    of_endpoint = [*of_environment, "--endpoint", endpoint["endpointId"]]
    (row,) = run(private_app, "webhook", "deliveries", *of_endpoint, "--state", "delivered")
    assert run(private_app, "webhook", "replay", row["deliveryId"])["state"] == "pending"
    assert len(run(private_app, "webhook", "deliveries", *of_environment, "--limit", "1")) == 1
    of_endpoint_alone = run(private_app, "webhook", "deliveries", "--endpoint", endpoint["endpointId"])
    assert of_endpoint_alone == run(private_app, "webhook", "deliveries", *of_environment)
    assert "--environment" in run_failing(private_app, "webhook", "deliveries")
    assert "no environment" in run_failing(private_app, "webhook", "list", "--environment", str(uuid.uuid4()))


def test_the_endpoint_of_another_environment_has_no_deliveries_here(app: Flask, company: Company) -> None:
    with transaction():
        other_company = create_company()
    endpoint_id = create(app, other_company)["endpointId"]
    arguments = ["webhook", "deliveries", "--endpoint", endpoint_id, "--environment"]
    assert "no webhook endpoint" in run_failing(app, *arguments, str(company.environment_id))
    assert run(app, *arguments, str(other_company.environment_id)) == []


def test_what_waits_for_a_disabled_or_removed_endpoint_has_no_next_attempt(
    client: FlaskClient, app: Flask, company: Company
) -> None:
    endpoint_id = create(app, company)["endpointId"]
    review_and_promote(client, company)
    log.queue_deliveries()

    def next_attempt_at() -> Any:
        (row,) = run(app, "webhook", "deliveries", "--environment", str(company.environment_id))
        assert row["state"] == "pending"
        return row["nextAttemptAt"]

    planned = next_attempt_at()
    with transaction():
        service.disable_endpoint(company.environment_id, uuid.UUID(endpoint_id), DisabledReason.FAILING)
    disabled = next_attempt_at()
    run(app, "webhook", "enable", endpoint_id)
    enabled = next_attempt_at()
    run(app, "webhook", "remove", endpoint_id)
    assert (planned is not None, disabled, enabled, next_attempt_at()) == (True, None, planned, None)
