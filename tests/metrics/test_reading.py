"""What is read from the database and the broker when somebody asks."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text

from app.core.database import session, transaction
from app.core.errors import Unavailable
from app.core.jobs import Job, JobNotifier
from app.events.rules import EventType
from app.health import job_runs
from app.telemetry import persistence
from app.version import VERSION
from app.webhooks import log
from tests.context_api import Clock
from tests.factories import Company, event, send_events, send_review
from tests.metrics.scrape import scrape, value
from tests.webhooks.outbox import PUBLIC_URL, create_endpoint, promote

OLDEST = text("UPDATE telemetry_inbox SET received_at = received_at - interval '90 seconds' WHERE parked_at IS NULL")
UNCOUNTED_DAY = text("INSERT INTO uncounted_days (environment_id, day_on) VALUES (:environment_id, current_date)")
PARK = text("UPDATE telemetry_inbox SET parked_at = now()")


def test_the_inbox_is_counted_apart_from_parked_batches(open_client: FlaskClient, company: Company) -> None:
    send_events(open_client, company, event())
    with transaction():
        session().execute(PARK)
    for _ in range(2):
        send_events(open_client, company, event())
    with transaction():
        session().execute(OLDEST)
    samples = scrape(open_client)
    assert value(samples, "agent_feedback_inbox_rows") == 2
    assert value(samples, "agent_feedback_parked_batches") == 1
    age_s = value(samples, "agent_feedback_inbox_oldest_age_seconds")
    assert age_s is not None
    assert 90 <= age_s < 120


def test_an_empty_inbox_has_no_age(open_client: FlaskClient) -> None:
    samples = scrape(open_client)
    assert value(samples, "agent_feedback_inbox_rows") == 0
    assert value(samples, "agent_feedback_inbox_oldest_age_seconds") == 0


def test_rows_are_counted_to_a_bound(
    open_client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.metrics.queries.MAX_COUNTED_ROWS", 2)
    for _ in range(3):
        send_review(open_client, company.capability())
    assert value(scrape(open_client), "agent_feedback_outbox_rows", outbox="promotions") == 2


def test_what_waits_to_be_counted_is_read(open_client: FlaskClient, company: Company) -> None:
    send_events(open_client, company, event())
    persistence.persist_waiting_batches()
    with transaction():
        session().execute(UNCOUNTED_DAY, {"environment_id": company.environment_id})
    samples = scrape(open_client)
    for table in ("interaction_changes", "uncounted_days", "ledger_changes"):
        assert value(samples, "agent_feedback_outbox_rows", outbox=table) == 1, table
    # It is a view of the release before, which is always empty.
    assert value(samples, "agent_feedback_outbox_rows", outbox="day_marks") is None


def test_events_are_read_by_consumer(open_client: FlaskClient, company: Company, clock: Clock) -> None:
    create_endpoint(company, PUBLIC_URL, EventType.REVIEW_CREATED)
    send_review(open_client, company.capability())
    promote()
    clock.advance(seconds=90)
    samples = scrape(open_client)
    for consumer, number, age_s in (("webhooks", 1, 90), ("evaluations", 0, 0)):
        assert value(samples, "agent_feedback_outbox_rows", outbox=consumer) == number
        age = value(samples, "agent_feedback_outbox_oldest_age_seconds", outbox=consumer)
        assert age == pytest.approx(age_s, abs=20), consumer


@pytest.mark.parametrize(
    ("state", "change", "due_count"),
    [
        ("enabled", "failure_count = 0", 1),
        ("failing", "failure_count = 1", 0),
        ("disabled", "failure_count = 1, disabled_at = now()", 0),
    ],
)
def test_endpoints_are_read_by_state_and_due_deliveries_without_those_that_wait_for_their_receiver(
    open_client: FlaskClient, company: Company, clock: Clock, state: str, change: str, due_count: int
) -> None:
    create_endpoint(company, PUBLIC_URL, EventType.REVIEW_CREATED)
    send_review(open_client, company.capability())
    promote()
    log.queue_deliveries()
    with transaction():
        session().execute(text(f"UPDATE webhook_endpoints SET {change}"))
    clock.advance(seconds=90)
    samples = scrape(open_client)
    for each in ("enabled", "failing", "disabled"):
        assert value(samples, "agent_feedback_webhook_endpoints", state=each) == (each == state), each
    assert value(samples, "agent_feedback_outbox_rows", outbox="webhook_deliveries") == due_count
    age = value(samples, "agent_feedback_outbox_oldest_age_seconds", outbox="webhook_deliveries")
    assert age == pytest.approx(90 * due_count, abs=1)


def test_a_delivery_that_is_tried_again_later_is_not_due(open_client: FlaskClient, company: Company) -> None:
    create_endpoint(company, PUBLIC_URL, EventType.REVIEW_CREATED)
    send_review(open_client, company.capability())
    promote()
    log.queue_deliveries()
    with transaction():
        session().execute(text("UPDATE webhook_deliveries SET next_attempt_at = now() + interval '1 hour'"))
    assert value(scrape(open_client), "agent_feedback_outbox_rows", outbox="webhook_deliveries") == 0


def test_the_runs_of_a_job_are_read(open_client: FlaskClient, clock: Clock) -> None:
    job = Job.ROLL_UP_DAYS
    job_runs.record_schedule({job: 60})
    job_runs.record_start(job, is_scheduled=True)
    with job_runs.recorded_run(job):
        pass
    with pytest.raises(RuntimeError), job_runs.recorded_run(job):
        raise RuntimeError
    clock.advance(seconds=100)
    samples, label = scrape(open_client), {"job_name": job.value}
    assert value(samples, "agent_feedback_job_duration_seconds_count", **label) == 2
    assert value(samples, "agent_feedback_job_duration_seconds_bucket", **label, le="+Inf") == 2
    assert value(samples, "agent_feedback_job_failures_total", **label) == 1
    assert value(samples, "agent_feedback_job_period_seconds", **label) == 60
    assert value(samples, "agent_feedback_job_lag_seconds", **label) == 40
    started_at = clock.now.timestamp() - 100
    assert value(samples, "agent_feedback_job_last_success_timestamp_seconds", **label) == pytest.approx(started_at)
    assert value(samples, "agent_feedback_job_last_failure_timestamp_seconds", **label) == pytest.approx(started_at)
    assert value(samples, "agent_feedback_process_up", process="worker") == 1


def test_it_tells_which_servers_answer(open_client: FlaskClient) -> None:
    samples = scrape(open_client)
    assert value(samples, "agent_feedback_build_info", version=VERSION) == 1
    assert value(samples, "agent_feedback_database_up") == 1
    assert value(samples, "agent_feedback_broker_up") == 1


def test_without_its_servers_it_still_tells_what_was_counted(
    open_app: Flask, open_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise Unavailable

    monkeypatch.setitem(open_app.extensions, "job_notifier", JobNotifier("redis://127.0.0.1:1/0"))
    monkeypatch.setattr("app.metrics.service.SOURCES", (fail,))
    open_client.get("/healthz")
    samples = scrape(open_client)
    assert value(samples, "agent_feedback_database_up") == 0
    assert value(samples, "agent_feedback_broker_up") == 0
    assert value(samples, "agent_feedback_requests_total", route="/healthz", method="GET", status="200") == 1
    assert value(samples, "agent_feedback_inbox_rows") is None


def test_without_a_migration_it_still_tells_what_was_counted(
    open_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.metrics.service.SOURCES", (lambda: session().execute(text("SELECT FROM missing")),))
    samples = scrape(open_client)
    assert value(samples, "agent_feedback_database_up") == 1
    assert value(samples, "agent_feedback_inbox_rows") is None
