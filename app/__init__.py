"""Agent Feedback: tells a company whether its product worked for the independent AI agents that use it."""

from flask import Flask
from flask_swagger_ui import get_swaggerui_blueprint

from app import cli
from app.blueprints import DOORS, PAGES
from app.core import database, jobs, requests
from app.core.api import Api
from app.core.database import Patience
from app.enrichment import catalog
from app.products import known_keys
from app.screening.payload import refuse_forbidden_keys
from app.screening.service import check_itself
from app.version import VERSION
from config.settings import Settings

WEB_PATIENCE = Patience(session_s=5.0)
WORKER_PATIENCE = Patience(session_s=60.0)
"""Nobody waits for a worker."""


def create_app(settings: Settings, *, patience: Patience = WEB_PATIENCE) -> Flask:
    """Build the service: wiring only."""
    check_itself()
    catalog.built_in()
    requests.install_logging(settings.log_level)
    app = requests.Service(__name__, static_folder=None)
    app.config.update(
        API_TITLE="Agent Feedback",
        API_VERSION=VERSION,
        OPENAPI_VERSION="3.0.3",
        OPENAPI_URL_PREFIX="/",
        API_SPEC_OPTIONS={"servers": [{"url": settings.feedback_url}]},
    )
    app.extensions["settings"] = settings
    database.install(app, settings, patience)
    jobs.install(app, settings)
    known_keys.install(app, settings)
    requests.install(app)
    requests.trust_proxies(app, settings.trusted_proxies)
    api = Api(app, payload_guard=refuse_forbidden_keys)
    for door in DOORS:
        api.open_door(door)
    for page in PAGES:
        api.open_page(page)
    app.register_blueprint(get_swaggerui_blueprint("/docs", "/openapi.json", config={"app_name": "Agent Feedback"}))
    cli.install(app)
    return app
