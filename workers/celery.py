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
from app.core.traces import tracing as traces
from app.core.traces.tracing import LINKS_HEADER, find_tracing
from app.health import job_runs
from app.health.connections import database_error
from app.health.server_settings import list_warnings
from app.secrets.status import MISSING_SECRETS, has_missing_secrets
from config.broker import worker_configuration
from config.broker_connection import server_errors
from config.jobs import QUEUES
from config.redis_library import redis  # noqa: F401  # imported here, before Celery's transport imports it otherwise
from config.settings import settings_or_exit
from workers.schedule import SCHEDULED_HEADER, periodic_jobs

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
        """Run the task in the app context, and record its start and its end."""
        with flask_app.app_context():
            job_runs.record_start(self.name, is_scheduled=bool(self.request.get(SCHEDULED_HEADER)))
            if tracing := find_tracing():
                tracing.link_requests(self.request.get(LINKS_HEADER) or ())
            with job_runs.recorded_run(self.name):
                return super().__call__(*args, **kwargs)


@setup_logging.connect
def disable_celery_logging(**_: Any) -> None:
    """Keep Celery from installing log handlers of its own."""


@worker_init.connect
def install_traces(**_: Any) -> None:
    """Trace the jobs that this process runs, before it opens a connection; beat only sends messages."""
    if tracing := traces.install(flask_app, settings):
        tracing.trace_jobs()


@worker_init.connect
def log_connection_errors(**_: Any) -> None:
    """Log once why a server cannot be reached; the process starts all the same, and retries."""
    for error in (database_error(settings.database_url), *server_errors(settings)):
        if error:
            logger.error(error)
    if settings.counters_url is None:
        logger.warning("REDIS_URL is not set: each process counts limits and quotas for itself, and forgets at its end")


@worker_init.connect
def log_server_warnings(**_: Any) -> None:
    """Log once what an operator should change on the database server or in the settings."""
    with flask_app.app_context(), suppress(Unavailable), transaction():
        for warning in list_warnings():
            logger.warning(warning)
        if has_missing_secrets():
            logger.error(MISSING_SECRETS)


@worker_init.connect
def record_schedule(**_: Any) -> None:
    """Record the periods of the jobs, so that one that never runs is missed."""
    with flask_app.app_context(), suppress(Unavailable):
        job_runs.record_schedule({entry.job: entry.period_s for entry in periodic_jobs(settings.sweep_interval_s)})


CONFIGURATION: dict[str, Any] = {
    "timezone": "UTC",
    "task_serializer": "json",
    "accept_content": ["json"],
    # Nobody reads results: the rows are the result.
    "task_ignore_result": True,
    "worker_prefetch_multiplier": 1,
    "task_default_queue": "ingest",
    **worker_configuration(settings.broker_url, set(QUEUES.values())),
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
        "workers.ledger",
        "workers.retention",
        "workers.evidence",
        "workers.webhooks",
        "workers.evaluations",
    ],
)
app.conf.update(CONFIGURATION)
