"""The Celery app, which runs jobs in the context of the Flask app."""

import logging
from contextlib import suppress
from typing import Any

from celery import Celery, Task
from celery.signals import setup_logging, worker_init
from sqlalchemy import exc

from app import WORKER_TIMEOUTS, create_app
from app.core.database import transaction
from app.core.errors import Unavailable
from app.health import job_runs
from app.health.connections import database_error
from app.health.server_settings import list_warnings
from app.secrets.status import MISSING_SECRETS, has_missing_secrets
from config.broker import broker_error
from config.settings import settings_or_exit
from workers.schedule import SCHEDULED_HEADER

logger = logging.getLogger(__name__)

settings = settings_or_exit()
flask_app = create_app(settings, timeouts=WORKER_TIMEOUTS, serves_http=False)


class ServiceTask(Task):  # type: ignore[type-arg]  # Celery's own class is not generic at run time
    """A task inside the app context; it is retried while the database is unavailable."""

    autoretry_for = (exc.OperationalError, exc.InterfaceError, exc.TimeoutError, Unavailable)
    max_retries = 5
    retry_backoff = 1
    retry_backoff_max = 30
    retry_jitter = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the task in the app context, and record its start and its success."""
        with flask_app.app_context():
            job_runs.record_start(self.name, is_scheduled=bool(self.request.get(SCHEDULED_HEADER)))
            result = super().__call__(*args, **kwargs)
            job_runs.record_success(self.name)
            return result


@setup_logging.connect
def disable_celery_logging(**_: Any) -> None:
    """Keep Celery from installing log handlers of its own."""


@worker_init.connect
def log_connection_errors(**_: Any) -> None:
    """Log once why a server cannot be reached; the process starts all the same, and retries."""
    for error in (database_error(settings.database_url), broker_error(settings.broker_url)):
        if error:
            logger.error(error)


@worker_init.connect
def log_server_warnings(**_: Any) -> None:
    """Log once what an operator should change on the database server or in the settings."""
    with flask_app.app_context(), suppress(Unavailable), transaction():
        for warning in list_warnings():
            logger.warning(warning)
        if has_missing_secrets():
            logger.error(MISSING_SECRETS)


CONFIGURATION: dict[str, Any] = {
    "timezone": "UTC",
    "task_serializer": "json",
    "accept_content": ["json"],
    # Nobody reads results: the rows are the result.
    "task_ignore_result": True,
    "worker_prefetch_multiplier": 1,
    "task_default_queue": "ingest",
    "broker_transport_options": {
        # A job finds its work in the database, and a sweep finds what a killed worker left. So a message is gone once
        # a worker has received it, and there is nothing to acknowledge: an acknowledgement on a connection that the
        # broker has lost ends the worker (AttributeError in kombu 5.7.0, transport/redis.py, Channel._connparams).
        "ack_emulation": False,
        "socket_timeout": 5,
        "socket_connect_timeout": 5,
    },
    # The worker reconnects to a broker for as long as it takes.
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
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
