"""`flask jobs`: show the status of the background jobs."""

import click

from app.cli.output import Row, command
from app.health import job_runs
from app.health.job_runs import JobStatus
from app.health.rules import ProcessStatus

group = click.Group("jobs")


@command(group, "status")
def status() -> Row:
    """Show when worker and beat were last seen, and of each job its last run, its failures and whether it is late."""
    processes = job_runs.check_processes()
    return {
        "worker": _process(processes.worker),
        "beat": _process(processes.beat),
        "jobs": {job.run.job: _job(job) for job in job_runs.check_jobs()},
    }


def _job(job: JobStatus) -> Row:
    run = job.run
    return {
        "startedAt": run.started_at,
        "succeededAt": run.succeeded_at,
        "failedAt": run.failed_at,
        "lastDurationS": run.last_duration_s,
        "failures": run.failures,
        "periodS": run.period_s,
        "lagS": job.lag_s,
        "overdue": job.is_overdue,
    }


def _process(process: ProcessStatus) -> Row:
    return {"running": process.is_running, "lastSeenAt": process.seen_at}
