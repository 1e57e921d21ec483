"""Agent Feedback: tells a company whether its product worked for the independent AI agents that use it."""

from flask import Flask

from app import cli
from app.core import database, jobs
from app.core.database import Timeouts
from app.core.http.service import Service
from app.core.metrics import counting
from app.core.traces import tracing as traces
from app.products import key_cache
from config.logs import install_logging
from config.settings import Settings

WEB_TIMEOUTS = Timeouts(statement_s=5.0)
WORKER_TIMEOUTS = Timeouts(statement_s=60.0)
"""No request waits for a worker or a command."""


def create_app(settings: Settings, *, timeouts: Timeouts = WEB_TIMEOUTS, serves_http: bool = True) -> Flask:
    """Build the service: wiring only."""
    install_logging(settings.log_level)
    app = Service(__name__, static_folder=None)
    app.extensions["settings"] = settings
    if serves_http:
        # Nobody asks a worker or a command: what they do is read from the database.
        counting.install(app, settings)
        # Before the hooks of requests, so that a span holds what they do.
        if tracing := traces.install(app, settings):
            tracing.trace_requests(app)
    database.install(app, settings, timeouts)
    jobs.install(app, settings)
    key_cache.install(app, settings)
    cli.install(app)
    if serves_http:
        # Commands and workers start in half the time without it.
        from app import blueprints  # noqa: PLC0415  # see the line above

        blueprints.install(app, settings)
    return app
