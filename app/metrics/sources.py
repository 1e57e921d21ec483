"""The packages that read metrics from their tables, collected."""

from collections.abc import Callable, Iterator
from functools import cache

from app.accounts.rules import FailureReason
from app.core import protocol
from app.core.metrics.families import LIMITS_HIT, QUOTAS_HIT, REFUSALS, SCREENING_REFUSALS, SIGN_IN_FAILURES
from app.core.metrics.readings import Reading
from app.events import metrics as events
from app.evidence import metrics as evidence
from app.health import metrics as health
from app.interactions import metrics as interactions
from app.ledger import metrics as ledger
from app.screening.scanner import RULE_IDS
from app.telemetry import metrics as telemetry
from app.webhooks import metrics as webhooks
from config.limits import LimitName, QuotaName

SOURCES: tuple[Callable[[], Iterator[Reading]], ...] = (
    health.read_metrics,
    telemetry.read_metrics,
    interactions.read_metrics,
    evidence.read_metrics,
    ledger.read_metrics,
    events.read_metrics,
    webhooks.read_metrics,
)
"""Each needs a transaction."""


@cache
def zeros() -> tuple[Reading, ...]:
    """Return the counters that no process may have counted yet: Prometheus sees an increase of what was there before.

    Made when somebody asks, since most processes are never asked.
    """
    return (
        *(Reading(REFUSALS, 0, (code, str(error["status"]))) for code, error in protocol.read("errors.json").items()),
        *(Reading(SCREENING_REFUSALS, 0, (rule_id,)) for rule_id in RULE_IDS),
        *(Reading(LIMITS_HIT, 0, (name,)) for name in LimitName),
        *(Reading(QUOTAS_HIT, 0, (name,)) for name in QuotaName),
        *(Reading(SIGN_IN_FAILURES, 0, (reason.label,)) for reason in FailureReason),
    )
