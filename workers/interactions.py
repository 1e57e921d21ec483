"""Celery tasks of interactions."""

from celery import shared_task

from app.core.jobs import Job
from app.interactions import service


@shared_task(name=Job.PROMOTE_INTERACTIONS.value)
def promote_queued_interactions() -> None:
    """Confirm the interactions that an agent has reviewed, reported on or answered."""
    service.promote_queued_interactions()
