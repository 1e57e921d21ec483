"""The runs of the background jobs, and what they tell about worker and beat."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.database import transaction
from app.core.jobs import Job
from app.health import job_runs
from app.health.rules import process_status
from tests.context_api import Clock

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seen_ago_s", "is_running"), [(0, True), (180, True), (180.1, False), (None, False), (-5, True)]
)
def test_a_process_is_silent_after_three_missed_sweeps(seen_ago_s: float | None, is_running: bool) -> None:
    seen_at = None if seen_ago_s is None else NOW - timedelta(seconds=seen_ago_s)
    assert process_status(seen_at, NOW, sweep_interval_s=60).is_running is is_running


def test_a_fresh_database_has_seen_neither_worker_nor_beat(app: Flask) -> None:
    with transaction():
        processes = job_runs.check_processes()
        runs = job_runs.list_job_runs()
    assert (processes.worker.seen_at, processes.beat.seen_at) == (None, None)
    assert [(run.job, run.started_at) for run in runs] == [(job.value, None) for job in Job]


def test_beat_is_seen_only_by_jobs_that_it_scheduled(app: Flask, clock: Clock) -> None:
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=True)
    scheduled_at = clock.now
    clock.advance(seconds=10)
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=False)
    with transaction():
        processes = job_runs.check_processes()
    assert (processes.worker.seen_at, processes.beat.seen_at) == (clock.now, scheduled_at)


def test_a_run_that_failed_keeps_the_time_of_the_last_success(app: Flask, clock: Clock) -> None:
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=False)
    job_runs.record_success(Job.ROLL_UP_DAYS)
    succeeded_at = clock.now
    clock.advance(seconds=10)
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=False)
    with transaction():
        run = next(run for run in job_runs.list_job_runs() if run.job == Job.ROLL_UP_DAYS)
    assert (run.started_at, run.succeeded_at) == (clock.now, succeeded_at)


def test_readyz_stays_ready_and_warns_while_only_the_worker_is_silent(client: FlaskClient, clock: Clock) -> None:
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=True)
    assert "warning" not in client.get("/readyz").json
    clock.advance(hours=1)
    response = client.get("/readyz")
    assert (response.status_code, response.json["status"], response.json["worker"]["running"]) == (200, "ready", False)
    assert response.json["warning"].startswith("No worker has run a job lately")
    assert "error" not in response.json


def test_readyz_warns_while_only_beat_is_silent(client: FlaskClient, clock: Clock) -> None:
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=True)
    clock.advance(hours=1)
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=False)
    body = client.get("/readyz").json
    assert (body["worker"]["running"], body["beat"]["running"]) == (True, False)
    assert body["warning"].startswith("Beat has scheduled no job lately")


def test_the_command_shows_processes_and_every_job(app: Flask) -> None:
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=True)
    result = app.test_cli_runner().invoke(args=["jobs", "status", "--json"])
    assert result.exit_code == 0, result.output
    content = json.loads(result.output)
    assert (content["worker"]["running"], content["beat"]["running"]) == (True, True)
    assert {job: run["startedAt"] is not None for job, run in content["jobs"].items()} == {
        job.value: job is Job.ROLL_UP_DAYS for job in Job
    }
