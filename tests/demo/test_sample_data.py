"""What `flask demo seed` has stored: these tests share one workspace that is seeded once, and change nothing."""

import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import DateTime, select, text

from app.core.database import session, transaction
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.customers import service as customers
from app.customers.rules import digest_references
from app.ledger.models import LedgerDay
from app.models import METADATA
from app.products import service as products
from app.products.models import Key
from tests.conftest import empty_database
from tests.demo.seeding import create_workspace, environment_ids, row_counts, seed
from tests.evidence.raw import summary_and_expectation
from tests.factories import Company, create_company
from tests.summaries.raw import counts_and_expectation

LATER = {"expires_at"}
"""Columns of what is to come."""


@pytest.fixture(scope="module")
def company(migrated_app: Flask) -> Iterator[Company]:
    empty_database(migrated_app)
    with migrated_app.app_context():
        with transaction():
            owner = create_company()
        yield owner


@pytest.fixture(scope="module")
def seeding(migrated_app: Flask, company: Company) -> Any:
    return seed(migrated_app, create_workspace(company))


def test_it_says_what_it_has_made(seeding: Any) -> None:
    workspace_id = uuid.UUID(seeding["workspaceId"])
    assert seeding["alreadySeeded"] is False
    assert len(seeding["products"]) == 3
    with transaction():
        assert {str(product.id) for product in products.list_products(workspace_id)} == {
            product["productId"] for product in seeding["products"]
        }
    counts, stored = seeding["counts"], row_counts()
    assert counts["interactions"] == stored["interactions"]
    assert counts["reviews"] == stored["reviews"]
    assert counts["reports"] == stored["reports"]
    assert counts["evidenceEvents"] == stored["evidence_events"]
    assert 6_000 <= counts["interactions"] <= 10_000
    assert 900 <= counts["reviews"] <= 1_500
    assert 50 <= counts["reports"] <= 130


def test_the_counts_by_day_equal_a_count_of_the_rows(company: Company, seeding: Any) -> None:
    for environment_id in environment_ids(seeding):
        counted, expected = counts_and_expectation(environment_id)
        assert counted == expected
    for product in seeding["products"]:
        environment_id = uuid.UUID(product["environments"][0]["environmentId"])
        sample = Company(uuid.UUID(seeding["workspaceId"]), uuid.UUID(product["productId"]), environment_id, "", "")
        content, expected_content = summary_and_expectation(sample)
        assert content == expected_content
    with transaction():
        rows = session().scalars(select(LedgerDay)).all()
    accepted = Counter[str]()
    for row in rows:
        accepted[row.source] += row.events if row.measure == "accepted" else 0
    assert accepted == {
        "telemetry": seeding["counts"]["interactions"],
        "evidence": seeding["counts"]["evidenceEvents"],
    }
    assert {row.measure for row in rows} >= {"lost", "duplicate", "refused"}


def test_no_job_has_anything_left_to_do(seeding: Any) -> None:
    stored = row_counts()
    waiting = ("telemetry_inbox", "promotions", "interaction_changes", "evidence_changes", "ledger_changes", "events")
    assert [name for name in waiting if stored[name]] == []


def test_every_list_of_the_product_has_something(seeding: Any) -> None:
    stored = row_counts()
    for name in (
        "consent_subjects",
        "consent_decisions",
        "customers",
        "customer_choices",
        "closed_requests",
        "signals",
        "context_retrievals",
        "personalization_decisions",
        "personalization_outcomes",
        "enrichment_fields",
        "sessions",
        "keys",
        "audit_entries",
    ):
        assert stored[name] > 3, name


def test_a_second_time_changes_nothing(migrated_app: Flask, seeding: Any) -> None:
    before = row_counts()
    second = seed(migrated_app, uuid.UUID(seeding["workspaceId"]))
    assert (second["alreadySeeded"], environment_ids(second)) == (True, environment_ids(seeding))
    assert row_counts() == before


def test_nothing_is_in_the_future_and_nothing_leaves_by_retention(seeding: Any) -> None:
    now = datetime.now(UTC)
    with transaction():
        for table in METADATA.tables.values():
            for column in table.columns:
                if isinstance(column.type, DateTime) and column.name not in LATER:
                    latest = session().scalar(text(f"SELECT max({column.name}) FROM {table.name}"))
                    assert latest is None or latest <= now, f"{table.name}.{column.name}"
        for name in ("signals", "enrichment_requests"):
            earliest = session().scalar(text(f"SELECT min(expires_at) FROM {name}"))
            assert earliest is None or earliest > now, name


def test_other_workspaces_stay_as_they_are(company: Company, seeding: Any) -> None:
    own = {*map(str, environment_ids(seeding)), *(product["productId"] for product in seeding["products"])}
    own.add(seeding["workspaceId"])
    with transaction():
        for table in METADATA.tables.values():
            tenant = next(iter(table.primary_key.columns)).name
            if tenant in ("environment_id", "product_id"):
                tenants = session().scalars(text(f"SELECT DISTINCT {tenant}::text FROM {table.name}")).all()
                assert set(tenants) <= own, table.name
        other_keys = session().scalars(select(Key.id).where(Key.environment_id == company.environment_id)).all()
    assert sorted(other_keys) == sorted(key.split("_")[2] for key in (company.product_key, company.company_key))


def test_a_customer_is_found_by_reference(seeding: Any) -> None:
    product_id = uuid.UUID(seeding["products"][0]["productId"])
    with transaction():
        keys = pepper_ring().derive_all(Purpose.CUSTOMER_REFERENCES, product_id)
        customer_ids = [
            customers.find(product_id, digest_references(keys, None, f"shopper-{1001 + number}", None))
            for number in range(20)
        ]
    assert any(customer_ids)
