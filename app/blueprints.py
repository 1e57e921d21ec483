"""The board in the lobby: every door of the house, where it hangs, and who may come in."""

from app.consent.routes import capabilities, decisions, states
from app.context.routes import blp as context
from app.core.doors import Door
from app.dashboard.routes import blp as dashboard
from app.discovery.routes import sdk, well_known
from app.enrichment.guards import REQUEST_HANDLE
from app.enrichment.routes import answering, asking, questions
from app.health.routes import blp as health
from app.outcomes.routes import blp as outcomes
from app.personalization.routes import blp as personalization
from app.reports.routes import blp as reports
from app.telemetry.routes import blp as telemetry
from app.tokens.guards import CAPABILITY, COMPANY_KEY, OPEN_TO_ALL, PRODUCT_KEY

DOORS = (
    Door(outcomes, "/api/v2", CAPABILITY, is_open_to_browsers=True),
    Door(reports, "/api/v2", CAPABILITY, is_open_to_browsers=True),
    Door(capabilities, "/api/v2/capabilities", CAPABILITY, is_open_to_browsers=True),
    Door(decisions, "/api/v2/consent", CAPABILITY, is_open_to_browsers=True),
    Door(states, "/api/v2/consent", PRODUCT_KEY),
    Door(telemetry, "/api/v2/telemetry", PRODUCT_KEY),
    Door(questions, "/api/v2/enrichment", COMPANY_KEY),
    Door(asking, "/api/v2/enrichment", COMPANY_KEY),
    Door(answering, "/api/v2/enrichment", REQUEST_HANDLE),
    Door(context, "/api/v2", COMPANY_KEY),
    Door(personalization, "/api/v2/personalization", COMPANY_KEY),
    Door(well_known, "/.well-known", OPEN_TO_ALL, is_open_to_browsers=True),
    Door(sdk, "/sdk", OPEN_TO_ALL),
    Door(health, "/", OPEN_TO_ALL),
)

PAGES = (dashboard,)
"""Doors for people; they are not part of the API description."""
