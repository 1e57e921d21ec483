"""What is read from the database and the broker when somebody asks."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text

from app.core.database import session, transaction
from app.core.errors import Unavailable
from app.core.jobs import Job, JobNotifier
from app.health import job_runs
from app.telemetry.persistence import persist_waiting_batches
from app.version import VERSION
from tests.context_api import Clock
from tests.factories import Company, event, send_events, send_review
from tests.metrics.scrape import scrape, value

OLDEST = text("UPDATE telemetry_inbox SET received_at = received_at - interval '90 seconds' WHERE parked_at IS NULL")
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


def test_interactions_that_are_not_in_the_day_counts_yet_are_counted(
    open_client: FlaskClient, company: Company
) -> None:
    send_events(open_client, company, event())
    persist_waiting_batches()
    assert value(scrape(open_client), "agent_feedback_outbox_rows", outbox="interaction_changes") == 1


def test_rows_are_counted_to_a_bound(
    open_client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.metrics.queries.MAX_COUNTED_ROWS", 2)
    for _ in range(3):
        send_review(open_client, company.capability())
    assert value(scrape(open_client), "agent_feedback_outbox_rows", outbox="promotions") == 2


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
