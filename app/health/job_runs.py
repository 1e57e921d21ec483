"""The last run of every background job, and what it tells about worker and beat."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core import clock
from app.core.database import session, transaction
from app.core.jobs import Job
from app.core.settings import current_settings
from app.health.models import JobRun
from app.health.rules import ProcessStatus, process_status


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes that run the jobs."""

    worker: ProcessStatus
    """Seen whenever it starts a job."""
    beat: ProcessStatus
    """Seen whenever a worker starts a job that beat has sent."""


def record_start(job: str, *, is_scheduled: bool) -> None:
    """Record that a worker starts a job; `is_scheduled` if beat sent it."""
    now = clock.now()
    times = {"started_at": now, **({"scheduled_at": now} if is_scheduled else {})}
    statement = insert(JobRun).values(job=job, **times).on_conflict_do_update(index_elements=[JobRun.job], set_=times)
    with transaction():
        session().execute(statement)


def record_success(job: str) -> None:
    """Record that a job has ended without an error."""
    with transaction():
        session().execute(update(JobRun).where(JobRun.job == job).values(succeeded_at=clock.now()))


def list_job_runs() -> list[JobRun]:
    """Return one row for each job of this release, also for a job that has never run. Needs a transaction."""
    runs = {run.job: run for run in session().scalars(select(JobRun))}
    return [runs.get(job.value) or JobRun(job=job.value) for job in Job]


def check_processes() -> Processes:
    """Return whether worker and beat are running. Needs a transaction."""
    statement = select(func.max(JobRun.started_at), func.max(JobRun.scheduled_at))
    worker_seen_at, beat_seen_at = session().execute(statement).one()
    return Processes(_status(worker_seen_at), _status(beat_seen_at))


def _status(seen_at: datetime | None) -> ProcessStatus:
    return process_status(seen_at, clock.now(), current_settings().sweep_interval_s)
