"""When a worker or beat counts as silent, and a job as late or overdue."""

from dataclasses import dataclass
from datetime import datetime, timedelta

MISSED_SWEEPS = 3
"""A worker or beat that has missed this many sweeps is silent; fewer may be a restart or a long job."""

OVERDUE_PERIODS = 2
"""A job is overdue when its success has been due for so many periods: a single run may fail, or take long."""


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """When a background process was last seen."""

    seen_at: datetime | None
    is_running: bool


def process_status(seen_at: datetime | None, now: datetime, sweep_interval_s: int) -> ProcessStatus:
    """Return the status of a process by the time when it was last seen."""
    silent_after = timedelta(seconds=MISSED_SWEEPS * sweep_interval_s)
    return ProcessStatus(seen_at, is_running=seen_at is not None and now - seen_at <= silent_after)


def job_lag_s(succeeded_at: datetime | None, planned_since: datetime | None, period_s: int, now: datetime) -> float:
    """Return for how many seconds a job's next success has been due; 0 for a job that is in time.

    A job that has never succeeded was due one period after it was first planned.
    """
    last_at = succeeded_at or planned_since or now
    return max(0.0, (now - last_at).total_seconds() - period_s)


def is_overdue(lag_s: float, period_s: int) -> bool:
    """Tell whether somebody should look after a job."""
    return lag_s > OVERDUE_PERIODS * period_s
