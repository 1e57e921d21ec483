"""When a worker or beat counts as silent."""

from dataclasses import dataclass
from datetime import datetime, timedelta

MISSED_SWEEPS = 3
"""A worker or beat that has missed this many sweeps is silent; fewer may be a restart or a long job."""


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """When a background process was last seen."""

    seen_at: datetime | None
    is_running: bool


def process_status(seen_at: datetime | None, now: datetime, sweep_interval_s: int) -> ProcessStatus:
    """Return the status of a process by the time when it was last seen."""
    silent_after = timedelta(seconds=MISSED_SWEEPS * sweep_interval_s)
    return ProcessStatus(seen_at, is_running=seen_at is not None and now - seen_at <= silent_after)
