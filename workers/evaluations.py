"""Celery tasks of evaluations."""

from celery import shared_task

from app.core.jobs import Job
from app.evaluations import service


@shared_task(name=Job.EXPORT_REVIEWS.value)
def export_reviews() -> None:
    """Send waiting reviews to the OpenTelemetry collector."""
    service.run()
