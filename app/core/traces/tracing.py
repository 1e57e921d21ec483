"""The traces of this process, where a collector is configured; elsewhere nothing of OpenTelemetry is imported."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from flask import Flask, current_app

from config.observability import set_trace_defaults
from config.settings import Settings

Origin = Any
"""The context of a span that has notified a job."""

LINKS_HEADER = "linked_requests"
"""The header of a message with the contexts of the requests that it stands for, beside the one that is its parent."""


class Tracing(Protocol):
    """The traces of one process; `app/core/traces/opentelemetry.py` has them."""

    def trace_requests(self, app: Flask) -> None:
        """Make a span of every request that the app answers."""

    def trace_jobs(self) -> None:
        """Make a span of every job that this process runs."""

    def find_origin(self) -> Origin | None:
        """Return the context of the current span, None without a span that is recorded."""

    def sending(self, job: str, origins: Sequence[Origin]) -> AbstractContextManager[dict[str, Any]]:
        """Make the span of a message for a job in the trace of the first origin, and yield the message's headers."""

    def link_requests(self, linked_requests: Sequence[str]) -> None:
        """Link the current span to the requests that its message stands for."""


def install(app: Flask, settings: Settings) -> Tracing | None:
    """Give the app its traces, and trace its statements, if a collector is configured."""
    if not settings.has_traces:
        return None
    # The libraries read the environment as they are imported.
    set_trace_defaults()
    # Importing them takes a third of a second.
    from app.core.traces.opentelemetry import OpenTelemetryTracing  # noqa: PLC0415  # see the line above

    tracing = app.extensions["tracing"] = OpenTelemetryTracing()
    return tracing


def find_tracing(app: Flask | None = None) -> Tracing | None:
    """Return the traces of an app, by default of the current one; None without a collector."""
    tracing: Tracing | None = (app or current_app).extensions.get("tracing")
    return tracing
