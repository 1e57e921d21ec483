"""Removing a product with everything that belongs to it."""

import uuid

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Table, text

from app.core.database import Base, session, transaction
from app.core.errors import NotFound
from app.events import service as events
from app.events.rules import EventType
from app.evidence import counts
from app.interactions import service as interactions
from app.ledger import counts as ledger
from app.models import METADATA
from app.products import service as products
from app.products.rules import Mode
from app.retention.declarations import DECLARATIONS
from app.retention.erasure import erase_product, tenant_tables
from app.summaries import service as summaries
from app.telemetry import persistence
from app.webhooks import log
from app.webhooks import service as webhooks
from tests.context_api import ADVERTISING, ContextApi, item
from tests.factories import Company, bearer, create_company, event, observation, send_events, send_evidence, send_review
from tests.triage.actions import triage

PUBLIC_URL = "https://93.184.215.14/hook"

SUBJECT = "afsub1_" + "S" * 43
TENANTS = {
    table.name: next(iter(table.primary_key.columns)).name
    for table in METADATA.sorted_tables
    if next(iter(table.primary_key.columns)).name in ("environment_id", "product_id")
}
"""Every table that leads with an environment or a product, and with which."""


BATCH = {"Agent-Feedback-Batch": "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10"}


def fill(client: FlaskClient, company: Company) -> None:
    """Leave rows in every table of the environment."""
    interaction = event(sessionRef="visit")
    send_events(client, company, interaction, headers=BATCH)
    with transaction():
        webhooks.create_endpoint(company.environment_id, PUBLIC_URL, list(EventType))
    token = company.capability(interaction["interactionId"], subject=SUBJECT)
    client.post("/api/v2/consent/decisions", json={"decision": "approved"}, headers=bearer(token))
    assert send_review(client, token).status_code == 200
    client.post("/api/v2/reports", json={"summary": "It worked well."}, headers=bearer(token))
    triage(company, interaction["interactionId"], "resolved", comment="It was a full disk.")
    persistence.persist_waiting_batches()
    interactions.promote_queued_interactions()
    summaries.roll_up_changes()
    log.queue_deliveries()
    send_evidence(client, company, observation())
    counts.roll_up_changes()
    ledger.roll_up_changes()
    send_evidence(client, company, observation())
    send_events(client, company, event())
    assert send_review(client, company.capability(subject=SUBJECT, revision=1)).status_code == 200
    create_context(ContextApi(client, company))
    with transaction():
        insert = "INSERT INTO uncounted_days (environment_id, day_on) VALUES (:environment, now())"
        session().execute(text(insert), {"environment": company.environment_id})
        events.queue(company.environment_id, EventType.KEY_REVOKED, {"keyId": "of an earlier key"})


def create_context(context_api: ContextApi) -> None:
    """Leave rows in every table of the product's customers."""
    context_api.put_field("content.format", allowedValues=["audio"], targetedAdvertisingSafe=True)
    context_api.choose(context_api.ask(userRef="u1", purpose=ADVERTISING).json, "approved")
    context_api.answer(context_api.ask(userRef="u1").json, item("content.format", "audio", remember=True))
    retrieval = context_api.retrieve(userRef="u1").json
    new_decision = {"externalDecisionId": "d", "contextRetrievalId": retrieval["retrievalId"], "signalIds": []}
    decision = context_api.post("/personalization/decisions", new_decision).json["decision"]
    new_outcome = {"externalOutcomeId": "o", "decisionId": decision["id"], "outcome": "conversion"}
    assert context_api.post("/personalization/outcomes", new_outcome).status_code == 200
    with transaction():
        statement = "INSERT INTO closed_requests (environment_id, interaction_id, closed_at) VALUES (:id, :id, now())"
        session().execute(text(statement), {"id": context_api.company.environment_id})
        insert = "INSERT INTO field_days VALUES (:id, now(), 'content.format', 'product_personalization', 1, 0)"
        session().execute(text(insert), {"id": context_api.company.environment_id})


def rows_of(company: Company) -> dict[str, int]:
    tenants = {"environment_id": company.environment_id, "product_id": company.product_id}
    with transaction():
        return {
            table: session()
            .execute(text(f"SELECT count(*) FROM {table} WHERE {tenant} = :id"), {"id": tenants[tenant]})
            .scalar_one()
            for table, tenant in TENANTS.items()
        }


def test_every_row_of_the_product_goes_and_none_of_another(app: Flask, client: FlaskClient) -> None:
    with transaction():
        own_company, other_company = create_company(Mode.ASK_ONCE), create_company(Mode.ASK_ONCE)
    fill(client, own_company)
    fill(client, other_company)
    other_rows = rows_of(other_company)
    assert all(other_rows.values()), other_rows
    erase_product(own_company.product_id)
    assert set(rows_of(own_company).values()) == {0}
    assert rows_of(other_company) == other_rows
    assert send_events(client, own_company, event()).status_code == 401


def test_what_is_not_there_cannot_be_removed(app: Flask) -> None:
    with pytest.raises(NotFound):
        erase_product(uuid.uuid4())


def test_an_interrupted_erasure_can_be_begun_again(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_events(client, company, event())
    with monkeypatch.context() as patch:
        patch.setattr("app.retention.erasure._erase", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            erase_product(company.product_id)
    assert erase_product(company.product_id) == 1
    with transaction(), pytest.raises(NotFound):
        products.get_environment(company.environment_id)


def tables_of(package: str) -> set[str]:
    models = f"app.{package}.models"
    return {
        mapper.local_table.name
        for mapper in Base.registry.mappers
        if mapper.class_.__module__ == models and isinstance(mapper.local_table, Table)
    }


@pytest.mark.parametrize("package", sorted(DECLARATIONS))
def test_every_table_of_a_package_leaves_by_its_rules_or_stays_for_a_reason(package: str) -> None:
    declaration = DECLARATIONS[package]
    rule_tables = {rule.table for rule in declaration.RULES}
    assert rule_tables | set(declaration.TABLES_WITHOUT_RULES) == tables_of(package)
    assert not rule_tables & set(declaration.TABLES_WITHOUT_RULES)


def test_every_package_with_tables_declares_what_leaves() -> None:
    assert set().union(*map(tables_of, DECLARATIONS)) == set(METADATA.tables)


def test_every_table_with_a_tenant_is_erased_or_deleted_with_it() -> None:
    erased_tables = {table.name for table, _ in tenant_tables()}
    cascading = {
        table.name for table in METADATA.sorted_tables if any(key.ondelete == "CASCADE" for key in table.foreign_keys)
    }
    tables = {
        table.name for table in METADATA.sorted_tables if {"environment_id", "product_id"} & set(table.columns.keys())
    }
    assert tables == erased_tables | (cascading & tables)
    assert {"interactions", "telemetry_inbox", "signals", "customers"} <= erased_tables
    assert not erased_tables & cascading
