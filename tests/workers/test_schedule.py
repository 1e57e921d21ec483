"""The timetable."""

from app.core.jobs import QUEUES, Job
from workers.schedule import TIMETABLE


def test_every_job_is_on_the_timetable() -> None:
    assert {entry.job for entry in TIMETABLE} == set(Job) == set(QUEUES)


def test_calls_never_pile_up() -> None:
    assert all(entry.expires_s < entry.every_s for entry in TIMETABLE)
