"""The schedule of the periodic jobs: the period of each, and when an unanswered call expires."""

from typing import NamedTuple

from config.jobs import Job

SCHEDULED_HEADER = "scheduled"
"""The header by which a task knows that beat sent it."""

MINUTE = 60
HOUR = 60 * MINUTE

DELIVERY_INTERVAL_S = 15
"""How exact the time of a retry is."""


class Entry(NamedTuple):
    """A periodic job."""

    name: str
    job: Job
    period_s: int

    @property
    def expires_s(self) -> int:
        """Below the period, so that calls never pile up while no worker runs."""
        return self.period_s * 5 // 6


def periodic_jobs(sweep_interval_s: int) -> tuple[Entry, ...]:
    """Return the schedule; `sweep_interval_s` is the period of the jobs that customers wait for."""
    return (
        Entry("sweep telemetry", Job.PERSIST_TELEMETRY, sweep_interval_s),
        Entry("sweep promotions", Job.PROMOTE_INTERACTIONS, sweep_interval_s),
        Entry("roll up days", Job.ROLL_UP_DAYS, sweep_interval_s),
        Entry("roll up evidence", Job.ROLL_UP_EVIDENCE, sweep_interval_s),
        Entry("roll up ledger", Job.ROLL_UP_LEDGER, MINUTE),
        Entry("deliver webhooks", Job.DELIVER_WEBHOOKS, min(sweep_interval_s, DELIVERY_INTERVAL_S)),
        Entry("export reviews", Job.EXPORT_REVIEWS, min(sweep_interval_s, DELIVERY_INTERVAL_S)),
        Entry("expire enrichment", Job.EXPIRE_ENRICHMENT, 5 * MINUTE),
        Entry("expire feedback", Job.EXPIRE_FEEDBACK, HOUR),
        Entry("expire sign-ins", Job.EXPIRE_SIGN_INS, HOUR),
        Entry("expire evidence", Job.EXPIRE_EVIDENCE, HOUR),
    )
