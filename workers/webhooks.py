"""Celery tasks of webhooks."""

from celery import shared_task

from app.core.jobs import Job
from app.webhooks import delivery


@shared_task(name=Job.DELIVER_WEBHOOKS.value)
def deliver_due() -> None:
    """Send the webhooks that are due."""
    delivery.run()
