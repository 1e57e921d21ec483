"""Count what happens in this process, where somebody may read it; elsewhere nothing is imported and nothing counted."""

from collections.abc import Sequence
from typing import Protocol

from flask import Flask, current_app, has_app_context

from app.core.metrics.families import Family
from app.core.metrics.readings import Reading
from config.settings import Settings


class Metrics(Protocol):
    """The metrics of one process; `app/core/metrics/prometheus.py` has them."""

    def count(self, family: Family, *labels: str, amount: float = 1) -> None:
        """Add to a counter or gauge."""

    def observe(self, family: Family, value: float, *labels: str) -> None:
        """Add a value to a histogram."""

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request and observe its duration."""

    def format(self, readings: Sequence[Reading], zeros: Sequence[Reading]) -> bytes:
        """Return what all processes have counted, and readings, in Prometheus' text format.

        `zeros` are the counters that are there before anything has counted them.
        """


def install(app: Flask, settings: Settings) -> None:
    """Give the app its metrics, if anybody may read them."""
    if settings.metrics is not None:
        # prometheus_client takes a tenth of a second to import.
        from app.core.metrics.prometheus import PrometheusMetrics  # noqa: PLC0415  # see the line above

        app.extensions["metrics"] = PrometheusMetrics()


def find_metrics(app: Flask | None = None) -> Metrics | None:
    """Return the metrics of an app, by default of the current one; None where nobody may read them."""
    metrics: Metrics | None = (app or current_app).extensions.get("metrics")
    return metrics


def count(family: Family, *labels: str) -> None:
    """Count one, with the values of the family's labels in their order."""
    # What is pure enough to be called outside of an app is not counted there.
    if has_app_context() and (metrics := find_metrics()):
        metrics.count(family, *labels)
