"""Day counts while a release runs that marks days instead of recording changes, and after it."""

import secrets
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

import flask_migrate
import pytest
from alembic.script import ScriptDirectory
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app import create_app
from app.cli import migrations
from app.core.database import session, transaction
from app.health.service import MIGRATIONS
from app.interactions import service as interactions
from app.interactions import uncounted_days
from app.summaries import service as summaries
from config.settings import Settings
from tests.conftest import Servers, environment
from tests.factories import Company, create_company, send_review
from tests.summaries.raw import counts_and_expectation, store_interaction

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)

# The statements of the release before.
OLD_INSERT = """
    WITH written AS (
        INSERT INTO interactions (environment_id, id, received_at, surface, operation, classification)
        VALUES (:environment_id, :id, :now, 'http_json', '/old', 'unclassified') ON CONFLICT DO NOTHING
        RETURNING environment_id, received_at
    )
    INSERT INTO day_marks (environment_id, day_on)
    SELECT DISTINCT environment_id, (received_at AT TIME ZONE 'UTC')::date FROM written
"""
OLD_REVIEW = """
    INSERT INTO reviews (environment_id, interaction_id, id, outcome, note, created_at)
    VALUES (:environment_id, :id, :id, 'partial', 'It was partly done.', :now) ON CONFLICT DO NOTHING
"""
OLD_PROMOTE = """
    WITH claimed AS (
        DELETE FROM promotions RETURNING environment_id, interaction_id, method, created_at
    ), promoted AS (
        INSERT INTO interactions AS i
            (environment_id, id, received_at, surface, operation, classification, confirmed_by, confirmed_at)
        SELECT environment_id, interaction_id, created_at, 'unknown', 'pending', 'confirmed', method, created_at
        FROM claimed ON CONFLICT (environment_id, id) DO UPDATE
            SET classification = 'confirmed', confirmed_by = excluded.confirmed_by, confirmed_at = excluded.confirmed_at
        RETURNING i.environment_id, i.received_at
    )
    INSERT INTO day_marks (environment_id, day_on)
    SELECT DISTINCT environment_id, (received_at AT TIME ZONE 'UTC')::date FROM promoted
"""
OLD_CLAIM = """
    WITH due AS (
        SELECT environment_id, day_on FROM day_marks GROUP BY 1, 2 ORDER BY min(id) LIMIT 1
    ), claimed AS (
        DELETE FROM day_marks m USING due WHERE m.environment_id = due.environment_id AND m.day_on = due.day_on
        RETURNING m.environment_id, m.day_on
    )
    SELECT DISTINCT environment_id, day_on FROM claimed
"""
OLD_COUNT = """
    INSERT INTO interaction_days
        (environment_id, day_on, operation, surface, interactions, confirmed, success, partial, failure)
    SELECT i.environment_id, CAST(:day_on AS date), i.operation, i.surface, count(*),
           count(*) FILTER (WHERE i.classification = 'confirmed'), count(*) FILTER (WHERE r.outcome = 'success'),
           count(*) FILTER (WHERE r.outcome = 'partial'), count(*) FILTER (WHERE r.outcome = 'failure')
    FROM interactions i
    LEFT JOIN reviews r ON r.environment_id = i.environment_id AND r.interaction_id = i.id
    WHERE i.environment_id = :environment_id
      AND i.received_at >= CAST(:day_on AS date)::timestamp AT TIME ZONE 'UTC'
      AND i.received_at < (CAST(:day_on AS date) + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY i.environment_id, i.operation, i.surface
"""
OLD_DELETE = "DELETE FROM interaction_days WHERE environment_id = :environment_id AND day_on = :day_on"


def execute(statement: str, **values: object) -> None:
    with transaction():
        session().execute(text(statement), values)


def old_insert(environment_id: uuid.UUID, number: int) -> None:
    execute(OLD_INSERT, environment_id=environment_id, id=uuid.UUID(int=number), now=NOW)


def old_roll_up() -> None:
    with transaction():
        for day in session().execute(text(OLD_CLAIM)).mappings().all():
            session().execute(text(OLD_DELETE), dict(day))
            session().execute(text(OLD_COUNT), dict(day))


@pytest.fixture
def old_app(servers: Servers) -> Iterator[Flask]:
    """An app whose database is at the migration before the changes of counts."""
    settings_ = Settings.from_env(environment(servers, servers.database(f"test_{secrets.token_hex(4)}")))
    app = create_app(settings_, serves_http=False)
    revisions = ScriptDirectory(str(MIGRATIONS)).walk_revisions()
    first = next(revision for revision in revisions if revision.path.endswith("_interaction_changes.py"))
    with app.app_context():
        migrations._install()
        flask_migrate.upgrade(revision=first.down_revision)
        yield app
    app.extensions["database"].dispose()


def test_the_counts_of_a_filled_database_are_exact_after_its_upgrade(
    old_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.interactions.uncounted_days.BATCH_SIZE", 3)
    environment_id = uuid.uuid4()
    for number in range(8):
        old_insert(environment_id, number)
    for number in range(3):
        execute(OLD_REVIEW, environment_id=environment_id, id=uuid.UUID(int=number), now=NOW)
    old_roll_up()
    # Changed after the last roll-up.
    old_insert(environment_id, 8)
    execute(OLD_REVIEW, environment_id=environment_id, id=uuid.UUID(int=8), now=NOW)
    migrations.upgrade()
    summaries.roll_up_changes()
    counted, stored = counts_and_expectation(environment_id)
    assert counted == stored
    assert list(counted.values()) == [(9, 0, 0, 4, 0)]
    with transaction():
        assert session().scalar(text("SELECT count(*) FROM uncounted_days")) == 0


def test_outcomes_that_are_set_after_another_run_has_counted_are_counted(app: Flask) -> None:
    environment_id = uuid.uuid4()
    old_insert(environment_id, 1)
    execute(OLD_REVIEW, environment_id=environment_id, id=uuid.UUID(int=1), now=NOW)
    (day,) = uncounted_days.list_uncounted_days()
    # Another run counts the day; this one ends before it has.
    execute("DELETE FROM uncounted_days")
    uncounted_days.set_outcomes(day)
    summaries.roll_up_changes()
    counted, stored = counts_and_expectation(environment_id)
    assert counted == stored
    assert list(counted.values()) == [(1, 0, 0, 1, 0)]


STEPS = ["old insert", "old promote", "old roll-up", "new insert", "review", "new promote", "new count", "new roll-up"]


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 5)), min_size=5, max_size=30))
def test_the_counts_are_exact_after_both_releases_have_run_beside_each_other(
    app: Flask, steps: list[tuple[str, int]]
) -> None:
    with transaction():
        company: Company = create_company()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.core.clock.now", lambda: NOW)
        for step, number in [*steps, ("old promote", 0), ("new roll-up", 0)]:
            run(app, company, step, number)
    counted, stored = counts_and_expectation(company.environment_id)
    assert counted == stored
    with transaction():
        rows = session().execute(
            text("SELECT sum(success) FROM interaction_days WHERE environment_id = :id"), {"id": company.environment_id}
        )
        reviews = text("SELECT count(*) FROM reviews WHERE environment_id = :id")
        assert (rows.scalar_one() or 0) == session().scalar(reviews, {"id": company.environment_id})


def run(app: Flask, company: Company, step: str, number: int) -> None:
    if step == "old insert":
        old_insert(company.environment_id, number)
    elif step == "old promote":
        execute(OLD_PROMOTE)
    elif step == "old roll-up":
        old_roll_up()
    elif step == "new insert":
        with transaction():
            store_interaction(company, number, "http_json", "/new")
    elif step == "review":
        assert send_review(app.test_client(), company.capability(str(uuid.UUID(int=number)))).status_code == 200
    elif step == "new promote":
        interactions.promote_queued_interactions()
    elif step == "new count":
        # As if changes had been recorded since they were moved.
        summaries._count_uncounted_days()
    else:
        summaries.roll_up_changes()
