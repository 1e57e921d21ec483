"""Import every table, so that `METADATA` is complete for migrations and tests."""

from app.accounts import models as accounts
from app.catalog import models as catalog
from app.consent import models as consent
from app.context import models as context
from app.core.database import Base
from app.customers import models as customers
from app.enrichment import models as enrichment
from app.events import models as events
from app.evidence import models as evidence
from app.health import models as health
from app.interactions import models as interactions
from app.ledger import models as ledger
from app.outcomes import models as outcomes
from app.personalization import models as personalization
from app.products import models as products
from app.reports import models as reports
from app.secrets import models as secrets
from app.summaries import models as summaries
from app.telemetry import models as telemetry
from app.triage import models as triage
from app.webhooks import models as webhooks

MODEL_MODULES = (
    accounts,
    catalog,
    consent,
    context,
    customers,
    enrichment,
    events,
    evidence,
    health,
    interactions,
    ledger,
    outcomes,
    personalization,
    products,
    reports,
    secrets,
    summaries,
    telemetry,
    triage,
    webhooks,
)

METADATA = Base.metadata
