"""Day counts."""

import uuid
from datetime import UTC, date, datetime, timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from app.core.database import session, transaction
from app.interactions import service as interactions
from app.summaries import service as summaries
from app.summaries.models import InteractionDay
from app.telemetry import persistence
from tests.factories import Company, event, send_events, send_review

Counts = dict[tuple[date, str, str], tuple[int, ...]]


def run_jobs() -> None:
    persistence.persist_waiting_batches()
    interactions.promote_queued_interactions()
    summaries.roll_up_changes()


def read_counts() -> Counts:
    with transaction():
        rows = session().scalars(select(InteractionDay)).all()
    return {
        (row.day_on, row.operation, row.surface): (
            row.interactions,
            row.confirmed,
            row.success,
            row.partial,
            row.failure,
        )
        for row in rows
    }


def set_clock(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr("app.core.clock.now", lambda: moment)


def test_a_day_is_counted_by_operation_surface_and_outcome(client: FlaskClient, company: Company) -> None:
    events = [event(operation="/a") for _ in range(4)] + [event(surface="mcp", operation="find")]
    send_events(client, company, *events)
    for interaction, outcome in zip(events, ("success", "partial", "failure"), strict=False):
        send_review(client, company.capability(interaction["interactionId"]), outcome)
    run_jobs()
    today = datetime.now(UTC).date()
    assert read_counts() == {(today, "/a", "http_json"): (4, 3, 1, 1, 1), (today, "find", "mcp"): (1, 1, 0, 0, 0)}


def test_counting_again_changes_nothing(client: FlaskClient, company: Company) -> None:
    send_events(client, company, event(), event())
    run_jobs()
    first_counts = read_counts()
    run_jobs()
    assert summaries.roll_up_changes() == 0
    assert read_counts() == first_counts


def test_late_telemetry_moves_a_placeholder_to_its_operation(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    send_review(client, company.capability(interaction_id))
    run_jobs()
    assert {key[1:] for key in read_counts()} == {("pending", "unknown")}
    send_events(client, company, event(interaction_id, operation="/late"))
    run_jobs()
    assert {key[1:]: value for key, value in read_counts().items()} == {("/late", "http_json"): (1, 1, 1, 0, 0)}


def test_days_end_at_midnight_in_utc(client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    midnight = datetime(2026, 3, 29, tzinfo=UTC)
    for moment in (midnight - timedelta(microseconds=1), midnight, midnight + timedelta(hours=23, minutes=59)):
        set_clock(monkeypatch, moment)
        send_events(client, company, event())
    run_jobs()
    assert {key[0]: value[0] for key, value in read_counts().items()} == {date(2026, 3, 28): 1, date(2026, 3, 29): 2}


def test_a_late_review_of_a_confirmed_interaction_is_counted_on_its_day(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_midnight = datetime(2026, 3, 28, 23, 59, tzinfo=UTC)
    interaction = event(surface="mcp", operation="find")
    set_clock(monkeypatch, before_midnight)
    send_events(client, company, interaction)
    run_jobs()
    set_clock(monkeypatch, before_midnight + timedelta(minutes=2))
    send_review(client, company.capability(interaction["interactionId"]))
    run_jobs()
    assert read_counts() == {(date(2026, 3, 28), "find", "mcp"): (1, 1, 1, 0, 0)}
