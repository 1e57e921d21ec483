"""What `flask demo seed` has stored: these tests share one workspace that is seeded once, and change nothing."""

import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import DateTime, select, text

from app.accounts.models import AuditEntry
from app.accounts.users import list_members
from app.catalog.models import FieldDefinition
from app.core.database import session, transaction
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.customers import service as customers
from app.customers.rules import digest_references
from app.demo.content import context
from app.ledger.models import LedgerDay
from app.models import METADATA
from app.products import service as products
from app.products.models import Key
from app.triage.models import Triage, TriageComment
from app.triage.queries import find_feedback
from app.triage.rules import KINDS, NEW, STATES
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
        "field_days",
        "signals",
        "context_retrievals",
        "personalization_decisions",
        "personalization_outcomes",
        "enrichment_fields",
        "sessions",
        "triages",
        "triage_comments",
        "keys",
        "audit_entries",
    ):
        assert stored[name] > 3, name


def test_questions_are_counted_as_the_requests_that_have_left_asked_and_were_answered(seeding: Any) -> None:
    with transaction():
        rows = session().execute(
            text("""
                SELECT d.environment_id, d.key, sum(d.asked), sum(d.answered),
                       (SELECT count(*) FROM closed_requests c WHERE c.environment_id = d.environment_id),
                       (SELECT count(*) FROM signals s JOIN closed_requests c USING (environment_id, interaction_id)
                        WHERE s.environment_id = d.environment_id AND s.key = d.key)
                FROM field_days d GROUP BY d.environment_id, d.key
            """)
        )
        counts = {(environment_id, key): tuple(map(int, row)) for environment_id, key, *row in rows}
        own_keys = set(session().scalars(select(FieldDefinition.key).where(FieldDefinition.enabled)))
    shop_id, bookings_id = (
        uuid.UUID(seeding["products"][number]["environments"][0]["environmentId"]) for number in (0, 2)
    )
    assert set(counts) == {(shop_id, key) for key in context().shop.keys} | {(bookings_id, key) for key in own_keys}
    assert len(own_keys) > 1
    for asked, answered, closed_requests, signals in counts.values():
        assert asked == closed_requests
        assert asked > answered >= signals > 0


def test_members_have_triaged_some_of_the_feedback(company: Company, seeding: Any) -> None:
    with transaction():
        member_ids = {member.user_id for member in list_members(uuid.UUID(seeding["workspaceId"]))}
        triages = session().scalars(select(Triage)).all()
        comments = session().scalars(select(TriageComment)).all()
        items = [find_feedback(row.environment_id, row.kind, row.interaction_id, row.feedback_at) for row in triages]
        actions = Counter(session().scalars(select(AuditEntry.action)))
    assert {row.state for row in triages} == set(STATES) - {NEW}
    assert {row.kind for row in triages} == set(KINDS)
    assert {row.assignee_id for row in triages} | {row.author_id for row in comments} == member_ids
    for row, item in zip(triages, items, strict=True):
        assert item is not None
        assert (item.id, item.triage, item.created_at) == (row.feedback_id, row.state, row.feedback_at)
        assert item.created_at < row.changed_at
        assert item.outcome in ("failure", None)
    assert {row.feedback_id for row in comments} <= {row.feedback_id for row in triages}
    assert (actions["feedback.triaged"], actions["feedback.commented"]) == (len(triages), len(comments))


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
