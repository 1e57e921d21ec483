"""Metrics of the jobs, of worker and beat, and of the servers that the service depends on."""

from collections.abc import Iterator

from app.core.jobs import job_notifier
from app.core.metrics import families
from app.core.metrics.readings import Distribution, Reading
from app.health import job_runs
from app.health.job_runs import JobStatus
from app.version import VERSION


def read_metrics() -> Iterator[Reading]:
    """Read the runs of the jobs, and whether worker and beat run. Needs a transaction."""
    processes = job_runs.check_processes()
    yield Reading(families.PROCESS_UP, float(processes.worker.is_running), ("worker",))
    yield Reading(families.PROCESS_UP, float(processes.beat.is_running), ("beat",))
    for job in job_runs.check_jobs():
        yield from _read_job(job)


def read_servers(*, has_database: bool) -> Iterator[Reading]:
    """Ask the broker, and tell of the database what asking for the other metrics has shown."""
    yield Reading(families.BUILD, 1, (VERSION,))
    yield Reading(families.DATABASE_UP, float(has_database))
    yield Reading(families.BROKER_UP, float(job_notifier().is_broker_reachable()))


def _read_job(job: JobStatus) -> Iterator[Reading]:
    run, labels = job.run, (job.run.job,)
    if run.duration_counts:
        yield Reading(families.JOB_DURATION, Distribution(tuple(run.duration_counts), run.duration_sum_s), labels)
    yield Reading(families.JOB_FAILURES, run.failures, labels)
    for family, instant in (
        (families.JOB_LAST_START, run.started_at),
        (families.JOB_LAST_SUCCESS, run.succeeded_at),
        (families.JOB_LAST_FAILURE, run.failed_at),
    ):
        if instant is not None:
            yield Reading(family, instant.timestamp(), labels)
    if run.period_s is not None and job.lag_s is not None:
        yield Reading(families.JOB_PERIOD, run.period_s, labels)
        yield Reading(families.JOB_LAG, job.lag_s, labels)
