"""The summaries' jobs."""

from celery import shared_task

from app.core.jobs import Job
from app.summaries import service


@shared_task(name=Job.ROLL_UP_DAYS.value)
def roll_up_days() -> None:
    """Count the days anew whose rows have changed."""
    service.roll_up_waiting()
