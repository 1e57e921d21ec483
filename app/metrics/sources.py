"""The packages that read metrics from their tables, collected."""

from collections.abc import Callable, Iterator

from app.core.metrics.readings import Reading
from app.evidence import metrics as evidence
from app.health import metrics as health
from app.interactions import metrics as interactions
from app.telemetry import metrics as telemetry

SOURCES: tuple[Callable[[], Iterator[Reading]], ...] = (
    health.read_metrics,
    telemetry.read_metrics,
    interactions.read_metrics,
    evidence.read_metrics,
)
"""Each needs a transaction."""
