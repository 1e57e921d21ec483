"""The notification of jobs through the broker.

A message only starts a job early: a job finds its rows in the database, and a sweep finds those whose message was lost.
So a notification must never delay or fail the request that sends it. It marks the job as pending; a thread of the
process sends a message for every pending job, after the commits, and the next ones after a pause. It keeps the jobs
pending while the broker is unavailable.
"""

import logging
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flask import Flask, current_app

from app.core.database import after_commit
from app.core.traces.tracing import Origin, Tracing, find_tracing
from config.broker import PUBLISH_TIMEOUT_S, publisher_configuration
from config.jobs import QUEUES, Job
from config.settings import Settings

if TYPE_CHECKING:
    from celery import Celery

__all__ = ["QUEUES", "Job", "JobNotifier", "install", "job_notifier", "notify"]

PAUSE_S = 0.5
"""All notifications between two messages become the second one; a batch is visible within two seconds of its answer.

Five messages a second took 7 % more processor time of all processes for each of many reviews.
"""

RETRY_AFTER_FAILURE_S = 1.0
MESSAGE_EXPIRES_S = 60
"""A message is useless after the next sweep of its job."""

MAX_ORIGINS = 32
"""Requests whose traces a message is linked with; further ones of the same pause are not."""

logger = logging.getLogger(__name__)


class JobNotifier:
    """Sends the messages of one process."""

    def __init__(self, broker_url: str, tracing: Tracing | None = None) -> None:
        self._broker_url = broker_url
        self._tracing = tracing
        self._pending: dict[Job, list[Origin]] = {}
        """The jobs to notify, and where traces are kept the requests that asked for it."""
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_broker_unavailable = False

    def notify(self, job: Job, origin: Origin | None = None) -> None:
        """Mark a job as pending, and return at once."""
        # Without the lock: the message for a job that is still pending here is sent after this moment.
        if origin is None and job in self._pending:
            return
        with self._condition:
            self._add(job, [] if origin is None else [origin])
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

    @cached_property
    def _celery(self) -> "Celery":
        # Most commands notify nothing, and the library takes a tenth of their start; `app.blueprints` imports it early.
        from celery import Celery  # noqa: PLC0415  # see the line above

        celery = Celery("job-notifier", broker=self._broker_url, set_as_current=False)
        celery.conf.update(publisher_configuration(self._broker_url, set(QUEUES.values())))
        return celery

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._pending)
                jobs, self._pending = self._pending, {}
            self._send(jobs)
            pause.wait(RETRY_AFTER_FAILURE_S if self._is_broker_unavailable else PAUSE_S)

    def _add(self, job: Job, origins: list[Origin]) -> None:
        """Add a job and the requests that asked for it. Needs the lock."""
        pending_origins = self._pending.setdefault(job, [])
        pending_origins += origins[: MAX_ORIGINS - len(pending_origins)]

    def _send(self, jobs: dict[Job, list[Origin]]) -> None:
        try:
            for job in sorted(jobs):
                if self._tracing and jobs[job]:
                    with self._tracing.sending(job, jobs[job]) as headers:
                        self._send_message(job, headers)
                else:
                    self._send_message(job)
        except Exception as error:  # whatever the broker's client raises, the periodic run covers it
            if not self._is_broker_unavailable:
                logger.warning("the broker cannot be reached", extra={"error": type(error).__name__})
            self._is_broker_unavailable = True
            with self._condition:
                for job, origins in jobs.items():
                    self._add(job, origins)
        else:
            if self._is_broker_unavailable:
                logger.info("the broker can be reached again")
            self._is_broker_unavailable = False

    def _send_message(self, job: Job, headers: dict[str, Any] | None = None) -> None:
        self._celery.send_task(
            job,
            queue=QUEUES[job],
            expires=MESSAGE_EXPIRES_S,
            ignore_result=True,
            retry=False,
            headers=headers,
            confirm_timeout=PUBLISH_TIMEOUT_S,
        )


def install(app: Flask, settings: Settings) -> None:
    """Give the app its job notifier."""
    app.extensions["job_notifier"] = JobNotifier(settings.broker_url, find_tracing(app))


def job_notifier() -> JobNotifier:
    """Return the job notifier of the current app."""
    notifier: JobNotifier = current_app.extensions["job_notifier"]
    return notifier


def notify(job: Job) -> None:
    """Notify a job once the current transaction is committed."""
    notifier, tracing = job_notifier(), find_tracing()
    origin = tracing.find_origin() if tracing else None
    after_commit(lambda: notifier.notify(job, origin))
