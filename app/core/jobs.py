"""Jobs by name, and their notification through the broker.

A message only starts a job early: a job finds its rows in the database, and a sweep finds those whose message was lost.
So a notification must never delay or fail the request that sends it. It marks the job as pending; a thread of the
process sends one message per window for every pending job, after the commits, and keeps the jobs pending while the
broker is unavailable.
"""

import logging
import threading
from enum import StrEnum

from celery import Celery
from flask import Flask, current_app

from app.core.database import after_commit
from config.settings import Settings

WINDOW_S = 0.2
"""All notifications of this window become one message; a batch is visible within two seconds of its answer."""

RETRY_AFTER_FAILURE_S = 1.0
MESSAGE_EXPIRES_S = 60
"""A message is useless after the next sweep of its job."""

logger = logging.getLogger(__name__)


class Job(StrEnum):
    """Every job of the service; the value is its name on the queue."""

    PERSIST_TELEMETRY = "telemetry.persist_batches"
    PROMOTE_INTERACTIONS = "interactions.promote_waiting"
    ROLL_UP_DAYS = "summaries.roll_up_days"
    EXPIRE_FEEDBACK = "retention.expire_feedback"
    EXPIRE_ENRICHMENT = "retention.expire_enrichment"
    EXPIRE_SIGN_INS = "retention.expire_sign_ins"
    ROLL_UP_EVIDENCE = "evidence.roll_up_days"
    EXPIRE_EVIDENCE = "evidence.expire_events"
    ROLL_UP_LEDGER = "ledger.roll_up_days"


QUEUES = {
    Job.PERSIST_TELEMETRY: "ingest",
    Job.PROMOTE_INTERACTIONS: "ingest",
    Job.ROLL_UP_DAYS: "upkeep",
    Job.EXPIRE_FEEDBACK: "upkeep",
    Job.EXPIRE_ENRICHMENT: "upkeep",
    Job.EXPIRE_SIGN_INS: "upkeep",
    Job.ROLL_UP_EVIDENCE: "upkeep",
    Job.EXPIRE_EVIDENCE: "upkeep",
    Job.ROLL_UP_LEDGER: "upkeep",
}
"""Upkeep takes long and may be delayed; jobs whose results customers see soon have a queue of their own."""


class JobNotifier:
    """Sends the messages of one process."""

    def __init__(self, broker_url: str) -> None:
        self._celery = Celery("job-notifier", broker=broker_url, set_as_current=False)
        self._celery.conf.update(
            broker_transport_options={"socket_timeout": 0.4, "socket_connect_timeout": 0.4},
            broker_connection_retry=False,
            broker_connection_timeout=0.4,
        )
        self._pending: set[Job] = set()
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_broker_unavailable = False

    def notify(self, job: Job) -> None:
        """Mark a job as pending, and return at once."""
        # Without the lock: the message for a job that is still pending here is sent after this moment.
        if job in self._pending:
            return
        with self._condition:
            self._pending.add(job)
            if self._thread is None or not self._thread.is_alive():
                # Started on first use, so that a process that was forked has a thread of its own.
                self._thread = threading.Thread(target=self._run, name="job-notifier", daemon=True)
                self._thread.start()
            self._condition.notify()

    def is_broker_reachable(self) -> bool:
        """Tell whether the broker can be reached."""
        try:
            with self._celery.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1, timeout=1)
        except Exception:  # the broker's client has many kinds of failure
            return False
        return True

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._pending)
            pause.wait(RETRY_AFTER_FAILURE_S if self._is_broker_unavailable else WINDOW_S)
            with self._condition:
                jobs, self._pending = self._pending, set()
            self._send(jobs)

    def _send(self, jobs: set[Job]) -> None:
        try:
            for job in sorted(jobs):
                self._celery.send_task(
                    job, queue=QUEUES[job], expires=MESSAGE_EXPIRES_S, ignore_result=True, retry=False
                )
        except Exception as error:  # whatever the broker's client raises, the periodic run covers it
            if not self._is_broker_unavailable:
                logger.warning("the broker cannot be reached", extra={"error": type(error).__name__})
            self._is_broker_unavailable = True
            with self._condition:
                self._pending |= jobs
        else:
            if self._is_broker_unavailable:
                logger.info("the broker can be reached again")
            self._is_broker_unavailable = False


def install(app: Flask, settings: Settings) -> None:
    """Give the app its job notifier."""
    app.extensions["job_notifier"] = JobNotifier(settings.broker_url)


def job_notifier() -> JobNotifier:
    """Return the job notifier of the current app."""
    notifier: JobNotifier = current_app.extensions["job_notifier"]
    return notifier


def notify(job: Job) -> None:
    """Notify a job once the current transaction is committed."""
    notifier = job_notifier()
    after_commit(lambda: notifier.notify(job))
