"""Celery tasks of evidence."""

from celery import shared_task

from app.core.jobs import Job
from app.evidence import counts
from app.retention import service as retention


@shared_task(name=Job.ROLL_UP_EVIDENCE.value)
def roll_up_days() -> None:
    """Add the recorded changes to the day counts."""
    counts.roll_up_changes()


@shared_task(name=Job.EXPIRE_EVIDENCE.value)
def expire_events() -> None:
    """Remove evidence past its retention."""
    retention.expire_evidence()
