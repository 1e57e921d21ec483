"""The runs of every background job, and what they tell about worker and beat."""

import bisect
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exc, func, select, text
from sqlalchemy.dialects.postgresql import insert

from app.core import clock
from app.core.database import session, transaction
from app.core.errors import Unavailable
from app.core.jobs import Job
from app.core.metrics.families import JOB_BUCKETS_S
from app.core.settings import current_settings
from app.health.models import JobRun
from app.health.rules import ProcessStatus, is_overdue, job_lag_s, process_status

logger = logging.getLogger(__name__)

# By SQL, so that runs at the same time are both counted. Arrays begin at 1.
_RECORD_END = """
    UPDATE job_runs SET {changes}, last_duration_s = :duration_s, duration_sum_s = duration_sum_s + :duration_s,
        duration_counts[CAST(:bucket AS integer)] = duration_counts[CAST(:bucket AS integer)] + 1
    WHERE job = :job
"""
_RECORD_SUCCESS = text(_RECORD_END.format(changes="succeeded_at = :now"))
_RECORD_FAILURE = text(_RECORD_END.format(changes="failed_at = :now, failures = failures + 1"))


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes that run the jobs."""

    worker: ProcessStatus
    """Seen whenever it starts a job."""
    beat: ProcessStatus
    """Seen whenever a worker starts a job that beat has sent."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The runs of a job, and whether it is in time; None where its period is not known yet."""

    run: JobRun
    lag_s: float | None
    is_overdue: bool | None


def record_schedule(periods: Mapping[str, int]) -> None:
    """Record the period of each planned job, in seconds."""
    now = clock.now()
    rows = [{"job": job, "period_s": period_s, "planned_since": now} for job, period_s in periods.items()]
    statement = insert(JobRun).values(rows)
    values = {
        "period_s": statement.excluded.period_s,
        "planned_since": func.coalesce(JobRun.planned_since, statement.excluded.planned_since),
    }
    with transaction():
        session().execute(statement.on_conflict_do_update(index_elements=[JobRun.job], set_=values))


def record_start(job: str, *, is_scheduled: bool) -> None:
    """Record that a worker starts a job; `is_scheduled` if beat sent it."""
    now = clock.now()
    times = {"started_at": now, **({"scheduled_at": now} if is_scheduled else {})}
    statement = insert(JobRun).values(job=job, **times).on_conflict_do_update(index_elements=[JobRun.job], set_=times)
    with transaction():
        session().execute(statement)


@contextmanager
def recorded_run(job: str) -> Iterator[None]:
    """Record how long a block that runs a job takes, and whether it succeeds; a failure is raised on."""
    started_at = time.monotonic()
    try:
        yield
    except Exception:
        # Without the database the run itself has failed for that reason, which its log line tells.
        try:
            _record_end(job, time.monotonic() - started_at, is_success=False)
        except (Unavailable, exc.SQLAlchemyError):
            logger.warning("a failure was not recorded", extra={"job": job})
        raise
    _record_end(job, time.monotonic() - started_at, is_success=True)


def list_job_runs() -> list[JobRun]:
    """Return one row for each job of this release, also for a job that has never run. Needs a transaction."""
    runs = {run.job: run for run in session().scalars(select(JobRun))}
    return [runs.get(job.value) or JobRun(job=job.value, failures=0) for job in Job]


def check_jobs() -> list[JobStatus]:
    """Return the status of each job of this release. Needs a transaction."""
    return [_job_status(run, clock.now()) for run in list_job_runs()]


def check_processes() -> Processes:
    """Return whether worker and beat are running. Needs a transaction."""
    statement = select(func.max(JobRun.started_at), func.max(JobRun.scheduled_at))
    worker_seen_at, beat_seen_at = session().execute(statement).one()
    return Processes(_status(worker_seen_at), _status(beat_seen_at))


def _record_end(job: str, duration_s: float, *, is_success: bool) -> None:
    bucket = bisect.bisect_left(JOB_BUCKETS_S, duration_s) + 1
    values = {"job": job, "now": clock.now(), "duration_s": duration_s, "bucket": bucket}
    with transaction():
        session().execute(_RECORD_SUCCESS if is_success else _RECORD_FAILURE, values)


def _job_status(run: JobRun, now: datetime) -> JobStatus:
    if run.period_s is None:
        return JobStatus(run, None, None)
    lag_s = job_lag_s(run.succeeded_at, run.planned_since, run.period_s, now)
    return JobStatus(run, lag_s, is_overdue(lag_s, run.period_s))


def _status(seen_at: datetime | None) -> ProcessStatus:
    return process_status(seen_at, clock.now(), current_settings().sweep_interval_s)
