"""Celery tasks of retention."""

from celery import shared_task

from app.core.jobs import Job
from app.retention import service


@shared_task(name=Job.EXPIRE_FEEDBACK.value)
def expire_feedback() -> None:
    """Remove interactions, reviews and sessions past their retention."""
    service.expire_feedback()


@shared_task(name=Job.EXPIRE_ENRICHMENT.value)
def expire_enrichment() -> None:
    """Remove signals and requests past their expiry, and retrievals past their retention."""
    service.expire_enrichment()


@shared_task(name=Job.EXPIRE_SIGN_INS.value)
def expire_sign_ins() -> None:
    """Remove login sessions and sign-in counters that have expired."""
    service.expire_sign_ins()
