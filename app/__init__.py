"""Agent Feedback: tells a company whether its product worked for the independent AI agents that use it."""

from flask import Flask
from flask_swagger_ui import get_swaggerui_blueprint

from app import cli
from app.blueprints import API_MOUNTS, PAGE_MOUNTS
from app.catalog.entries import catalog_file
from app.core import database, jobs
from app.core.database import Timeouts
from app.core.http import lifecycle
from app.core.http.openapi import Api
from app.core.limits import limiter
from app.core.logs import install_logging
from app.products import key_cache
from app.screening.payload import refuse_forbidden_keys
from app.screening.service import check_itself
from app.version import VERSION
from config.settings import Settings

WEB_TIMEOUTS = Timeouts(statement_s=5.0)
WORKER_TIMEOUTS = Timeouts(statement_s=60.0)
"""No request waits for a worker."""


def create_app(settings: Settings, *, timeouts: Timeouts = WEB_TIMEOUTS) -> Flask:
    """Build the service: wiring only."""
    check_itself()
    catalog_file()
    install_logging(settings.log_level)
    app = lifecycle.Service(__name__, static_folder=None)
    app.config.update(
        API_TITLE="Agent Feedback",
        API_VERSION=VERSION,
        OPENAPI_VERSION="3.0.3",
        OPENAPI_URL_PREFIX="/",
        API_SPEC_OPTIONS={"servers": [{"url": settings.feedback_url}]},
    )
    app.extensions["settings"] = settings
    database.install(app, settings, timeouts)
    jobs.install(app, settings)
    key_cache.install(app, settings)
    limiter.install(app, settings)
    lifecycle.install(app)
    lifecycle.trust_proxies(app, settings.trusted_proxies)
    api = Api(app, document_check=refuse_forbidden_keys)
    for mount in API_MOUNTS:
        api.mount(mount)
    for mount in PAGE_MOUNTS:
        api.mount_page(mount)
    # Without a validator, which would be asked over the internet.
    docs_options = {"app_name": "Agent Feedback", "validatorUrl": None}
    app.register_blueprint(get_swaggerui_blueprint("/docs", "/openapi.json", config=docs_options))
    cli.install(app)
    return app
