"""Jobs by name, and the doorbell that calls for them.

The row is the truth and the queue is only a doorbell: a job finds its work in the database, and a sweep every minute
finds what a lost ring missed. So ringing must never delay or fail what it follows. It only notes the job; a thread
of the process rings once per window for all that was noted, after their commits, and keeps what a dead broker
refused until it is back.
"""

import logging
import threading
from enum import StrEnum

from celery import Celery
from flask import Flask, current_app

from app.core.database import after_commit
from config.settings import Settings

WINDOW_S = 0.2
"""All rings of this window become one; a batch is visible within two seconds of its answer."""

DEAD_BROKER_PAUSE_S = 1.0
RING_EXPIRES_S = 60
"""A ring that nobody answered is worthless once the sweep has been there."""

logger = logging.getLogger(__name__)


class Job(StrEnum):
    """Every job of the service; the value is its name on the queue."""

    PERSIST_TELEMETRY = "telemetry.persist_batches"
    PROMOTE_INTERACTIONS = "interactions.promote_waiting"
    ROLL_UP_DAYS = "summaries.roll_up_days"
    EXPIRE_FEEDBACK = "retention.expire_feedback"
    EXPIRE_ENRICHMENT = "retention.expire_enrichment"


QUEUES = {
    Job.PERSIST_TELEMETRY: "ingest",
    Job.PROMOTE_INTERACTIONS: "ingest",
    Job.ROLL_UP_DAYS: "upkeep",
    Job.EXPIRE_FEEDBACK: "upkeep",
    Job.EXPIRE_ENRICHMENT: "upkeep",
}
"""Upkeep takes long and may wait; what customers are waiting for has a queue of its own."""


class Doorbell:
    """Calls for jobs from one process."""

    def __init__(self, broker_url: str) -> None:
        self._celery = Celery("doorbell", broker=broker_url, set_as_current=False)
        self._celery.conf.update(
            broker_transport_options={"socket_timeout": 0.4, "socket_connect_timeout": 0.4},
            broker_connection_retry=False,
            broker_connection_timeout=0.4,
        )
        self._noted: set[Job] = set()
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_dead = False

    def ring(self, job: Job) -> None:
        """Note that a job has work."""
        # Without the lock: a job that is still noted here is rung after this moment.
        if job in self._noted:
            return
        with self._news:
            self._noted.add(job)
            if self._thread is None or not self._thread.is_alive():
                # Started on first use, so that a process that was forked has a thread of its own.
                self._thread = threading.Thread(target=self._run, name="doorbell", daemon=True)
                self._thread.start()
            self._news.notify()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            with self._news:
                self._news.wait_for(lambda: self._noted)
            pause.wait(DEAD_BROKER_PAUSE_S if self._is_dead else WINDOW_S)
            with self._news:
                noted, self._noted = self._noted, set()
            self._send(noted)

    def _send(self, jobs: set[Job]) -> None:
        try:
            for job in sorted(jobs):
                self._celery.send_task(job, queue=QUEUES[job], expires=RING_EXPIRES_S, ignore_result=True, retry=False)
        except Exception as error:  # whatever the broker's client raises, the sweep covers it
            if not self._is_dead:
                logger.warning("the broker cannot be reached", extra={"error": type(error).__name__})
            self._is_dead = True
            with self._news:
                self._noted |= jobs
        else:
            if self._is_dead:
                logger.info("the broker is back")
            self._is_dead = False

    def is_answered(self) -> bool:
        """Tell whether the broker can be reached right now."""
        try:
            with self._celery.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1, timeout=1)
        except Exception:  # the broker's client has many ways to say no
            return False
        return True


def install(app: Flask, settings: Settings) -> None:
    """Give the app its doorbell."""
    app.extensions["doorbell"] = Doorbell(settings.broker_url)


def doorbell() -> Doorbell:
    """Return the doorbell of the current app."""
    found: Doorbell = current_app.extensions["doorbell"]
    return found


def ring(job: Job) -> None:
    """Call for a job once the current transaction is committed."""
    bell = doorbell()
    after_commit(lambda: bell.ring(job))
