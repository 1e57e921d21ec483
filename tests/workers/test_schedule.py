"""The schedule of the periodic jobs."""

import pytest

from app.core.jobs import QUEUES, Job
from workers.schedule import periodic_jobs


def test_every_job_is_scheduled() -> None:
    assert {entry.job for entry in periodic_jobs(60)} == set(Job) == set(QUEUES)


@pytest.mark.parametrize("interval_s", [2, 60, 300])
def test_calls_expire_before_the_next_one(interval_s: int) -> None:
    assert all(0 < entry.expires_s < entry.period_s for entry in periodic_jobs(interval_s))


def test_only_what_customers_wait_for_follows_the_setting() -> None:
    assert {entry.job for entry in periodic_jobs(7) if entry.period_s == 7} == {
        Job.PERSIST_TELEMETRY,
        Job.PROMOTE_INTERACTIONS,
        Job.ROLL_UP_DAYS,
        Job.ROLL_UP_EVIDENCE,
        Job.DELIVER_WEBHOOKS,
        Job.EXPORT_REVIEWS,
    }
