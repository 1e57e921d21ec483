"""What is past its retention leaves."""

from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.consent.models import ConsentDecision, ConsentSubject
from app.core.database import Base, session, transaction
from app.interactions import service as interactions
from app.interactions.models import Interaction, InteractionSession
from app.outcomes.models import Review
from app.products import service as products
from app.products.rules import Mode
from app.retention import service as retention
from app.summaries import service as summaries
from app.summaries.models import InteractionDay
from app.telemetry import persistence
from tests.factories import Company, bearer, create_company, event, send_events, send_review

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def set_clock(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr("app.core.clock.now", lambda: moment)


def count(table: type[Base]) -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(table)) or 0


def fill(client: FlaskClient, company: Company, number: int = 3) -> None:
    events = [event(sessionRef="visit") for _ in range(number)]
    send_events(client, company, *events)
    send_review(client, company.capability(events[0]["interactionId"]))
    persistence.persist_waiting_batches()
    interactions.promote_queued_interactions()


def test_each_environment_keeps_for_as_long_as_it_says(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction():
        other_company = create_company()
        products.set_environment(other_company.environment_id, retention_days=10)
    set_clock(monkeypatch, NOW - timedelta(days=11))
    monkeypatch.setattr("tests.factories.time.time", lambda: datetime.now(UTC).timestamp())
    fill(client, company)
    fill(client, other_company)
    set_clock(monkeypatch, NOW)
    assert retention.expire_feedback().row_count == 3 + 1 + 1
    with transaction():
        environment_ids = session().scalars(select(Interaction.environment_id).distinct()).all()
    assert environment_ids == [company.environment_id]


def test_the_border_is_exact(client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, NOW - timedelta(days=90))
    send_events(client, company, event())
    persistence.persist_waiting_batches()
    set_clock(monkeypatch, NOW)
    assert retention.expire_feedback().row_count == 0
    set_clock(monkeypatch, NOW + timedelta(microseconds=1))
    assert retention.expire_feedback().row_count == 1


def test_everything_of_the_feedback_leaves_and_the_day_counts_with_it(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, NOW)
    fill(client, company)
    summaries.roll_up_changes()
    assert count(InteractionDay) == 1
    set_clock(monkeypatch, NOW + timedelta(days=91))
    assert retention.expire_feedback().is_complete
    summaries.roll_up_changes()
    assert [count(table) for table in (Interaction, Review, InteractionSession, InteractionDay)] == [0, 0, 0, 0]


def test_a_purge_goes_in_batches_and_stops_when_its_time_is_over(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.retention.service.BATCH_SIZE", 2)
    set_clock(monkeypatch, NOW)
    fill(client, company, 5)
    set_clock(monkeypatch, NOW + timedelta(days=91))
    first = retention.expire_feedback(budget_s=0)
    assert (first.row_count, first.is_complete) == (2, False)
    assert count(Interaction) == 3
    assert retention.expire_feedback().is_complete
    assert count(Interaction) == 0


def test_running_it_twice_removes_nothing_more(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, NOW)
    fill(client, company)
    set_clock(monkeypatch, NOW + timedelta(days=91))
    assert retention.expire_feedback().row_count > 0
    assert retention.expire_feedback().row_count == 0


def test_what_a_customer_decided_outlives_the_feedback(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction():
        company = create_company(Mode.ASK_ONCE)
    token = company.capability(subject="afsub1_" + "S" * 43)
    client.post("/api/v2/consent/decisions", json={"decision": "declined"}, headers=bearer(token))
    set_clock(monkeypatch, datetime.now(UTC) + timedelta(days=400))
    retention.expire_feedback()
    assert (count(ConsentSubject), count(ConsentDecision)) == (1, 1)
