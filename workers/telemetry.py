"""Celery tasks of telemetry."""

from celery import shared_task

from app.core.jobs import Job
from app.telemetry import persistence


@shared_task(name=Job.PERSIST_TELEMETRY.value)
def persist_batches() -> None:
    """Persist the batches in the inbox."""
    persistence.persist_waiting_batches()
