"""The retention rules that the packages declare, collected."""

from itertools import chain

from app.accounts import retention as accounts
from app.catalog import retention as catalog
from app.consent import retention as consent
from app.context import retention as context
from app.core.retention import Group, RetentionRule
from app.customers import retention as customers
from app.enrichment import retention as enrichment
from app.events import retention as events
from app.evidence import retention as evidence
from app.health import retention as health
from app.interactions import retention as interactions
from app.ledger import retention as ledger
from app.outcomes import retention as outcomes
from app.personalization import retention as personalization
from app.products import retention as products
from app.reports import retention as reports
from app.secrets import retention as secrets
from app.summaries import retention as summaries
from app.telemetry import retention as telemetry
from app.triage import retention as triage
from app.webhooks import retention as webhooks

DECLARATIONS = {
    "accounts": accounts,
    "catalog": catalog,
    "consent": consent,
    "context": context,
    "customers": customers,
    "enrichment": enrichment,
    "events": events,
    "evidence": evidence,
    "health": health,
    "interactions": interactions,
    "ledger": ledger,
    "outcomes": outcomes,
    "personalization": personalization,
    "products": products,
    "reports": reports,
    "secrets": secrets,
    "summaries": summaries,
    "telemetry": telemetry,
    "triage": triage,
    "webhooks": webhooks,
}

BATCH_SIZE = 2_000
"""Rows in one transaction: some ten milliseconds, so that nobody waits for a purge."""

BUDGET_S = 90.0
"""Of one run, below the shortest period of a purge, so that runs do not pile up; the rest waits for the next."""


def rules_of(group: Group) -> list[RetentionRule]:
    """Return the rules that one job applies.

    Retention counts from arrival, which the service knows; what a product says of its own time can be anything.
    """
    rules = chain.from_iterable(declaration.RULES for declaration in DECLARATIONS.values())
    return [rule for rule in rules if rule.group is group]
