"""Celery tasks of the day counts."""

from celery import shared_task

from app.core.jobs import Job
from app.summaries import service


@shared_task(name=Job.ROLL_UP_DAYS.value)
def roll_up_days() -> None:
    """Add the recorded changes to the day counts."""
    service.roll_up_changes()
