"""The runs of the background jobs, and what they tell about worker and beat."""

import itertools
import json
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.database import transaction
from app.core.errors import Unavailable
from app.core.jobs import Job
from app.core.metrics.families import JOB_BUCKETS_S
from app.health import job_runs
from app.health.job_runs import JobStatus
from app.health.rules import is_overdue, job_lag_s, process_status
from tests.context_api import Clock

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def run_job(job: Job, error: Exception | None = None) -> None:
    job_runs.record_start(job, is_scheduled=False)
    with job_runs.recorded_run(job):
        if error:
            raise error


def status_of(job: Job) -> JobStatus:
    with transaction():
        return next(status for status in job_runs.check_jobs() if status.run.job == job)


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
    run_job(Job.ROLL_UP_DAYS)
    succeeded_at = clock.now
    clock.advance(seconds=10)
    with pytest.raises(RuntimeError):
        run_job(Job.ROLL_UP_DAYS, RuntimeError())
    run = status_of(Job.ROLL_UP_DAYS).run
    assert (run.started_at, run.succeeded_at, run.failed_at) == (clock.now, succeeded_at, clock.now)
    assert (run.failures, sum(run.duration_counts)) == (1, 2)


def test_a_run_is_counted_in_the_bucket_of_its_duration(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    times = itertools.count(step=2)
    monkeypatch.setattr("app.health.job_runs.time.monotonic", lambda: float(next(times)))
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=False)
    for _ in range(3):
        with job_runs.recorded_run(Job.ROLL_UP_DAYS):
            pass
    run = status_of(Job.ROLL_UP_DAYS).run
    buckets = dict(zip([*JOB_BUCKETS_S, "beyond"], run.duration_counts, strict=True))
    assert {bound: number for bound, number in buckets.items() if number} == {5.0: 3}
    assert (run.last_duration_s, run.duration_sum_s) == (2.0, 6.0)


@pytest.mark.parametrize(
    ("succeeded_ago_s", "planned_ago_s", "lag_s"),
    [(0, 900, 0), (60, 900, 0), (61, 900, 1), (None, 0, 0), (None, 200, 140), (None, None, 0), (-5, 0, 0)],
)
def test_a_job_is_late_a_period_after_its_last_success(
    succeeded_ago_s: float | None, planned_ago_s: float | None, lag_s: float
) -> None:
    succeeded_at, planned_since = (
        None if ago_s is None else NOW - timedelta(seconds=ago_s) for ago_s in (succeeded_ago_s, planned_ago_s)
    )
    assert job_lag_s(succeeded_at, planned_since, 60, NOW) == lag_s


@pytest.mark.parametrize(("lag_s", "expected"), [(0, False), (120, False), (120.1, True)])
def test_a_job_is_overdue_once_two_more_periods_have_passed(lag_s: float, expected: bool) -> None:
    assert is_overdue(lag_s, 60) is expected


def test_a_planned_job_that_never_ran_becomes_overdue(app: Flask, clock: Clock) -> None:
    job_runs.record_schedule({Job.EXPIRE_EVIDENCE: 3600})
    clock.advance(hours=2)
    # A later start of a worker does not begin to count anew.
    job_runs.record_schedule({Job.EXPIRE_EVIDENCE: 3600})
    status = status_of(Job.EXPIRE_EVIDENCE)
    assert (status.lag_s, status.is_overdue, status.run.started_at) == (3600, False, None)
    clock.advance(hours=2)
    assert status_of(Job.EXPIRE_EVIDENCE).is_overdue
    assert status_of(Job.ROLL_UP_DAYS).is_overdue is None


def test_a_failure_is_raised_although_it_cannot_be_recorded(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise Unavailable

    monkeypatch.setattr("app.health.job_runs.transaction", fail)
    with pytest.raises(KeyError), job_runs.recorded_run(Job.ROLL_UP_DAYS):
        raise KeyError


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
    job_runs.record_schedule({Job.ROLL_UP_DAYS: 60, Job.EXPIRE_FEEDBACK: 3600})
    job_runs.record_start(Job.ROLL_UP_DAYS, is_scheduled=True)
    with job_runs.recorded_run(Job.ROLL_UP_DAYS):
        pass
    result = app.test_cli_runner().invoke(args=["jobs", "status", "--json"])
    assert result.exit_code == 0, result.output
    content = json.loads(result.output)
    assert (content["worker"]["running"], content["beat"]["running"]) == (True, True)
    assert {job: run["startedAt"] is not None for job, run in content["jobs"].items()} == {
        job.value: job is Job.ROLL_UP_DAYS for job in Job
    }
    run = content["jobs"][Job.ROLL_UP_DAYS.value]
    assert run["succeededAt"] is not None
    assert run["lastDurationS"] >= 0
    assert {name: run[name] for name in ("failedAt", "failures", "periodS", "lagS", "overdue")} == {
        "failedAt": None,
        "failures": 0,
        "periodS": 60,
        "lagS": 0,
        "overdue": False,
    }
    assert content["jobs"][Job.EXPIRE_FEEDBACK.value]["overdue"] is False
    assert content["jobs"][Job.EXPIRE_EVIDENCE.value]["overdue"] is None
