"""`flask jobs`: show the status of the background jobs."""

import click

from app.cli.output import Row, command
from app.health import job_runs
from app.health.rules import ProcessStatus

group = click.Group("jobs")


@command(group, "status")
def status() -> Row:
    """Show when worker and beat were last seen, and when each job last ran."""
    processes = job_runs.check_processes()
    return {
        "worker": _process(processes.worker),
        "beat": _process(processes.beat),
        "jobs": {
            run.job: {"startedAt": run.started_at, "succeededAt": run.succeeded_at} for run in job_runs.list_job_runs()
        },
    }


def _process(process: ProcessStatus) -> Row:
    return {"running": process.is_running, "lastSeenAt": process.seen_at}
