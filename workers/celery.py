"""The Celery app: the same service without its HTTP side."""

from datetime import datetime
from typing import Any

from celery import Celery, Task
from celery.schedules import schedstate, schedule
from celery.signals import setup_logging
from sqlalchemy import exc

from app import WORKER_TIMEOUTS, create_app
from app.core.errors import Unavailable
from app.core.jobs import QUEUES
from config.settings import settings_or_exit
from workers.schedule import TIMETABLE

settings = settings_or_exit()
flask_app = create_app(settings, timeouts=WORKER_TIMEOUTS)


class ServiceTask(Task):  # type: ignore[type-arg]
    """A task inside the app; a database that is away is tried again."""

    autoretry_for = (exc.OperationalError, exc.InterfaceError, exc.TimeoutError, Unavailable)
    max_retries = 5
    retry_backoff = 1
    retry_backoff_max = 30
    retry_jitter = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the task with the app at hand."""
        with flask_app.app_context():
            return super().__call__(*args, **kwargs)


class Every(schedule):
    """A period that goes on after the clock was set back: a last run in the future counts as long ago."""

    def is_due(self, last_run_at: datetime) -> schedstate:
        """Tell whether it is time, and when to ask again, in seconds."""
        if last_run_at > self.now():
            return schedstate(is_due=True, next=self.seconds)
        return super().is_due(last_run_at)


@setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Leave the JSON lines alone."""


CONFIGURATION: dict[str, Any] = {
    "timezone": "UTC",
    "task_serializer": "json",
    "accept_content": ["json"],
    # Nobody reads results: the rows are the result.
    "task_ignore_result": True,
    # A killed worker's task is done again by another; every job may run twice.
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "worker_prefetch_multiplier": 1,
    "task_default_queue": "ingest",
    # With the defaults a task of a killed worker would sleep for an hour.
    "broker_transport_options": {
        "visibility_timeout": 120,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_timeout": 5,
        "socket_connect_timeout": 5,
    },
    # A broker that is away comes back; the worker waits for it as long as it takes.
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    # A beat that sleeps longer would notice late that the clock was changed.
    "beat_max_loop_interval": 10,
    "beat_schedule": {
        entry.name: {
            "task": entry.job,
            "schedule": Every(entry.every_s),
            "options": {"queue": QUEUES[entry.job], "expires": entry.expires_s},
        }
        for entry in TIMETABLE
    },
}

app = Celery(
    "agent-feedback",
    broker=settings.broker_url,
    task_cls=ServiceTask,
    include=[
        "workers.telemetry",
        "workers.interactions",
        "workers.summaries",
        "workers.retention",
        "workers.evidence",
    ],
)
app.conf.update(CONFIGURATION)
