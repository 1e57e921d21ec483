"""Celery tasks of the delivery ledger."""

from celery import shared_task

from app.core.jobs import Job
from app.ledger import counts


@shared_task(name=Job.ROLL_UP_LEDGER.value)
def roll_up_days() -> None:
    """Add the recorded changes to the day counts."""
    counts.roll_up_changes()
