"""Beat: sends the periodic jobs to their queues, and needs neither the Flask app nor the database for that."""

import logging
from datetime import UTC, datetime
from typing import Any

from celery import Celery
from celery.schedules import schedstate, schedule
from celery.signals import beat_init, setup_logging

from config.broker import worker_configuration
from config.broker_connection import server_errors
from config.jobs import QUEUES
from config.logs import install_logging
from config.redis_library import redis  # noqa: F401  # imported here, before Celery's transport imports it otherwise
from config.settings import settings_or_exit
from workers.schedule import SCHEDULED_HEADER, periodic_jobs


class PeriodicSchedule(schedule):
    """A periodic schedule that treats a last run in the future as due, since the clock may have been set back."""

    def is_due(self, last_run_at: datetime) -> schedstate:
        """Return whether it is due, and in how many seconds to check again."""
        if last_run_at > self.now():
            return schedstate(is_due=True, next=self.seconds)
        return super().is_due(last_run_at)


EPOCH = datetime.fromtimestamp(0, UTC)
"""The last run of every job when beat starts, so that each is due at once.

Beat keeps what it has sent in memory; were it restarted every half an hour, an hourly job would never run.
"""

logger = logging.getLogger(__name__)

settings = settings_or_exit()


@setup_logging.connect
def configure_logging(**_: Any) -> None:
    """Log as the other processes do, in place of Celery's own handlers."""
    install_logging(settings.log_level)


@beat_init.connect
def log_connection_errors(**_: Any) -> None:
    """Log once why the broker cannot be reached; beat starts all the same, and retries."""
    for error in server_errors(settings):
        logger.error(error)


app = Celery("agent-feedback-beat", broker=settings.broker_url)
app.conf.update(
    timezone="UTC",
    task_serializer="json",
    **worker_configuration(settings.broker_url, set(QUEUES.values())),
    # Beat reconnects to a broker for as long as it takes.
    broker_connection_max_retries=None,
    # One that sleeps longer would notice late that the clock was changed.
    beat_max_loop_interval=10,
    beat_schedule={
        entry.name: {
            "task": entry.job,
            "schedule": PeriodicSchedule(entry.period_s),
            "last_run_at": EPOCH,
            "options": {
                "queue": QUEUES[entry.job],
                "expires": entry.expires_s,
                "ignore_result": True,
                "headers": {SCHEDULED_HEADER: True},
            },
        }
        for entry in periodic_jobs(settings.sweep_interval_s)
    },
)
