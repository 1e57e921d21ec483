"""The timetable: what runs when, and how long a call that nobody answered stays worth answering."""

from typing import NamedTuple

from app.core.jobs import Job

MINUTE = 60
HOUR = 60 * MINUTE


class Entry(NamedTuple):
    """One line of the timetable."""

    name: str
    job: Job
    every_s: int
    expires_s: int
    """Below the period, so that calls never pile up behind a worker that is away."""


TIMETABLE = (
    Entry("sweep telemetry", Job.PERSIST_TELEMETRY, MINUTE, 50),
    Entry("sweep promotions", Job.PROMOTE_INTERACTIONS, MINUTE, 50),
    Entry("roll up days", Job.ROLL_UP_DAYS, MINUTE, 50),
    Entry("expire enrichment", Job.EXPIRE_ENRICHMENT, 5 * MINUTE, 4 * MINUTE),
    Entry("expire feedback", Job.EXPIRE_FEEDBACK, HOUR, 50 * MINUTE),
)
