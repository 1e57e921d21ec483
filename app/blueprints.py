"""Every mount: a blueprint, its prefix, the guard of its callers, and whether browsers of any origin may call it."""

import celery.app.base  # noqa: F401  # what the job notifier would import during a request
from flask import Flask

from app.accounts.guards import DASHBOARD_SESSION, OWN_ORIGIN
from app.accounts.routes import login, sign_in
from app.catalog.entries import catalog_file
from app.catalog.routes import blp as catalog
from app.consent.routes import capabilities, decisions, states
from app.context.routes import blp as context
from app.core.http import lifecycle
from app.core.http.mounts import Mount
from app.core.http.openapi import Api
from app.core.limits import limiter
from app.core.metrics.counting import find_metrics
from app.dashboard.account import account
from app.dashboard.ai_traffic import ai_traffic
from app.dashboard.api_docs import docs
from app.dashboard.audit import audit
from app.dashboard.customers import customers
from app.dashboard.feedback import feedback
from app.dashboard.gallery import gallery
from app.dashboard.home import home
from app.dashboard.htmx import htmx
from app.dashboard.interactions import interactions
from app.dashboard.invitation import invitation
from app.dashboard.keys import keys
from app.dashboard.operations import operations
from app.dashboard.own_session import own_session
from app.dashboard.personalization import personalization_pages
from app.dashboard.playground import playground
from app.dashboard.questions import questions
from app.dashboard.sessions import sessions
from app.dashboard.set_up import set_up
from app.dashboard.settings import settings
from app.dashboard.sign_in import sign_in_pages
from app.dashboard.single_sign_on import single_sign_on
from app.dashboard.team import team
from app.discovery.routes import agent_texts, sdk, well_known
from app.enrichment.guards import REQUEST_HANDLE
from app.enrichment.routes import answers_blp, requests_blp
from app.evidence.routes import blp as evidence
from app.evidence.routes import summaries
from app.health.routes import blp as health
from app.mcp.routes import blp as mcp
from app.metrics.guards import METRICS_READER, restrict_port
from app.metrics.routes import blp as metrics
from app.outcomes.routes import blp as outcomes
from app.outcomes.routes import previews as outcome_previews
from app.personalization.routes import blp as personalization
from app.reading.routes import blp as reading
from app.reports.routes import blp as reports
from app.reports.routes import previews as report_previews
from app.screening.payload import refuse_forbidden_keys
from app.screening.service import check_rules
from app.telemetry.routes import blp as telemetry
from app.tokens.guards import CAPABILITY, COMPANY_KEY, PRODUCT_KEY, PUBLIC, READ_KEY
from app.version import VERSION
from config.observability import MetricsAccess
from config.settings import Settings

API_MOUNTS = (
    Mount(outcomes, "/api/v2", CAPABILITY, cors=True),
    Mount(outcome_previews, "/api/v2", CAPABILITY, cors=True),
    Mount(reports, "/api/v2", CAPABILITY, cors=True),
    Mount(report_previews, "/api/v2", CAPABILITY, cors=True),
    Mount(capabilities, "/api/v2/capabilities", CAPABILITY, cors=True),
    Mount(decisions, "/api/v2/consent", CAPABILITY, cors=True),
    Mount(states, "/api/v2/consent", PRODUCT_KEY),
    Mount(telemetry, "/api/v2/telemetry", PRODUCT_KEY),
    Mount(catalog, "/api/v2/enrichment", COMPANY_KEY),
    Mount(requests_blp, "/api/v2/enrichment", COMPANY_KEY),
    Mount(answers_blp, "/api/v2/enrichment", REQUEST_HANDLE),
    Mount(context, "/api/v2", COMPANY_KEY),
    Mount(personalization, "/api/v2/personalization", COMPANY_KEY),
    Mount(evidence, "/api/v1/evidence/http-requests", COMPANY_KEY),
    Mount(reading, "/api/v2", READ_KEY),
    Mount(summaries, "/api/products", DASHBOARD_SESSION),
    Mount(well_known, "/.well-known", PUBLIC, cors=True),
    Mount(agent_texts, "/", PUBLIC, cors=True),
    Mount(sdk, "/sdk", PUBLIC),
    Mount(health, "/", PUBLIC, is_limited=False),
    Mount(sign_in, "/api", OWN_ORIGIN),
    Mount(login, "/api", DASHBOARD_SESSION),
)

PAGE_MOUNTS = (
    Mount(sign_in_pages, "/", OWN_ORIGIN),
    Mount(single_sign_on, "/sign-in/oidc", OWN_ORIGIN),
    Mount(invitation, "/invite", OWN_ORIGIN),
    Mount(own_session, "/", DASHBOARD_SESSION),
    Mount(home, "/", DASHBOARD_SESSION),
    Mount(interactions, "/interactions", DASHBOARD_SESSION),
    Mount(feedback, "/feedback", DASHBOARD_SESSION),
    Mount(operations, "/operations", DASHBOARD_SESSION),
    Mount(sessions, "/sessions", DASHBOARD_SESSION),
    Mount(questions, "/questions", DASHBOARD_SESSION),
    Mount(customers, "/customers", DASHBOARD_SESSION),
    Mount(personalization_pages, "/personalization", DASHBOARD_SESSION),
    Mount(ai_traffic, "/ai-traffic", DASHBOARD_SESSION),
    Mount(keys, "/keys", DASHBOARD_SESSION),
    Mount(settings, "/settings", DASHBOARD_SESSION),
    Mount(set_up, "/set-up", DASHBOARD_SESSION),
    Mount(team, "/team", DASHBOARD_SESSION),
    Mount(audit, "/audit", DASHBOARD_SESSION),
    Mount(account, "/account", DASHBOARD_SESSION),
    Mount(playground, "/playground", PUBLIC),
    Mount(gallery, "/components", PUBLIC),
    Mount(docs, "/docs", PUBLIC),
    Mount(htmx, "/static/htmx", PUBLIC),
)
"""Pages for people; the API description leaves them out."""

PROTOCOL_MOUNTS = (Mount(mcp, "/mcp", READ_KEY),)
"""Endpoints of a protocol that describes itself; the API description leaves them out."""

METRICS_MOUNT = Mount(metrics, "/", METRICS_READER, is_limited=False)
"""Mounted where a setting opens it; elsewhere its address is unknown."""


def install(app: Flask, settings: Settings) -> None:
    """Mount everything, and describe it in OpenAPI."""
    check_rules()
    catalog_file()
    limiter.install(app, settings)
    lifecycle.install(app)
    lifecycle.trust_proxies(app, settings.trusted_proxies)
    app.config.update(
        API_TITLE="Agent Feedback",
        API_VERSION=VERSION,
        OPENAPI_VERSION="3.0.3",
        OPENAPI_URL_PREFIX="/",
        API_SPEC_OPTIONS={"servers": [{"url": settings.feedback_url}]},
    )
    api = Api(app, document_check=refuse_forbidden_keys)
    for mount in API_MOUNTS:
        api.mount(mount)
    for mount in (*PAGE_MOUNTS, *PROTOCOL_MOUNTS):
        api.mount_undescribed(mount)
    if settings.metrics is not None:
        _mount_metrics(app, api, settings.metrics)


def _mount_metrics(app: Flask, api: Api, access: MetricsAccess) -> None:
    """Count requests, and mount the metrics, which a setting has opened."""
    if counted := find_metrics(app):
        lifecycle.count_requests(app, counted)
    api.mount_undescribed(METRICS_MOUNT)
    if access.port is not None:
        restrict_port(app, access.port)
