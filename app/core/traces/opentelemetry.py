"""The traces of one process, by OpenTelemetry's SDK and its instrumentations of Flask, psycopg2 and Celery.

Spans wait in a bounded queue for a thread that sends them, so a collector that is slow or away costs no request
anything; what does not fit is lost. Where to, how many and how often say the standard variables.
"""

import atexit
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flask import Flask
from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.flask import FlaskInstrumentor
from opentelemetry.instrumentation.psycopg2 import Psycopg2Instrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.core.traces.cleaning import clean_span, is_sent
from app.core.traces.tracing import LINKS_HEADER
from app.version import VERSION

EXIT_TIMEOUT_S = 2.0
"""How long a process that ends goes on to send what is left."""

_traceparent = TraceContextTextMapPropagator()


class CleanExporter(SpanExporter):
    """Sends spans without what may not leave the process."""

    def __init__(self) -> None:
        self._exporter = OTLPSpanExporter()
        self._deadline = float("inf")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch of spans."""
        if time.monotonic() > self._deadline:
            return SpanExportResult.FAILURE
        return self._exporter.export([clean_span(span) for span in spans if is_sent(span)])

    def end_soon(self) -> None:
        """Begin to end: batches that are sent too late are lost."""
        self._deadline = time.monotonic() + EXIT_TIMEOUT_S

    def shutdown(self) -> None:
        """End the exporter."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # it has no types


class OpenTelemetryTracing:
    """The traces of one process. A process that is forked gets a sending thread of its own."""

    def __init__(self) -> None:
        exporter = CleanExporter()
        # The name of the service and its other attributes come from the environment, and take precedence.
        resource = Resource({"service.version": VERSION}).merge(Resource.create())
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("agent_feedback", VERSION)
        # Called in the opposite order.
        atexit.register(self._provider.shutdown)
        atexit.register(exporter.end_soon)
        Psycopg2Instrumentor().instrument(tracer_provider=self._provider)

    def trace_requests(self, app: Flask) -> None:
        """Make a span of every request that the app answers."""
        FlaskInstrumentor.instrument_app(app, tracer_provider=self._provider, enable_commenter=False)  # type: ignore[no-untyped-call]  # it has no types

    def trace_jobs(self) -> None:
        """Make a span of every job that this process runs."""
        CeleryInstrumentor().instrument(tracer_provider=self._provider)  # type: ignore[no-untyped-call]  # it has no types

    def find_origin(self) -> SpanContext | None:
        """Return the context of the current span, None without a span that is recorded."""
        context = trace.get_current_span().get_span_context()
        return context if context.is_valid and context.trace_flags.sampled else None

    @contextmanager
    def sending(self, job: str, origins: Sequence[SpanContext]) -> Iterator[dict[str, Any]]:
        """Make the span of a message for a job in the trace of the first origin, and yield the message's headers."""
        parent, links = _context(origins[0]), [Link(origin) for origin in origins[1:]]
        with self._tracer.start_as_current_span(f"notify/{job}", parent, SpanKind.PRODUCER, links=links):
            headers: dict[str, Any] = {LINKS_HEADER: [_to_traceparent(origin) for origin in origins[1:]]}
            propagate.inject(headers)
            yield headers

    def link_requests(self, linked_requests: Sequence[str]) -> None:
        """Link the current span to the requests that its message stands for."""
        span = trace.get_current_span()
        for traceparent in linked_requests:
            context = trace.get_current_span(_traceparent.extract({"traceparent": traceparent})).get_span_context()
            if context.is_valid:
                span.add_link(context)


def _context(origin: SpanContext) -> Any:
    return trace.set_span_in_context(NonRecordingSpan(origin))


def _to_traceparent(origin: SpanContext) -> str:
    carrier: dict[str, str] = {}
    _traceparent.inject(carrier, _context(origin))
    return carrier["traceparent"]
