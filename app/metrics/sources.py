"""The packages that read metrics from their tables, collected."""

from collections.abc import Callable, Iterator

from app.core.metrics.readings import Reading
from app.events import metrics as events
from app.evidence import metrics as evidence
from app.health import metrics as health
from app.interactions import metrics as interactions
from app.ledger import metrics as ledger
from app.telemetry import metrics as telemetry
from app.webhooks import metrics as webhooks

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
