"""Send log records to an OpenTelemetry collector over OTLP/HTTP, as the standard environment variables say."""

import threading
from collections.abc import Sequence
from datetime import datetime
from enum import Enum, auto
from functools import cache
from typing import Any, NamedTuple

from app.evaluations.rules import EVENT_NAME
from app.version import VERSION

SERVICE_NAME = "agent-feedback"

BAD_DATA_STATUSES = (400, 413, 422)
"""Refusals of what is in the request. Others, such as 401 or 404, are about whoever sends it, and to where."""

_response = threading.local()


class Answer(Enum):
    """What became of a request."""

    TAKEN = auto()
    REFUSED = auto()
    """The same request would be refused again."""
    FAILED = auto()
    """It may be taken later."""


class EventRecord(NamedTuple):
    """One event."""

    occurred_at: datetime
    attributes: dict[str, Any]


def export(records: Sequence[EventRecord], now: datetime) -> Answer:
    """Send events in one request, and return what became of it; waits for OTEL_EXPORTER_OTLP_TIMEOUT."""
    # Imported here: only a worker that exports needs it, and it takes a tenth of a second.
    from opentelemetry._logs import LogRecord, SeverityNumber  # noqa: PLC0415  # see the line above
    from opentelemetry.sdk._logs import ReadableLogRecord  # noqa: PLC0415  # as above
    from opentelemetry.sdk._logs.export import LogRecordExportResult  # noqa: PLC0415  # as above
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope  # noqa: PLC0415  # as above
    from opentelemetry.trace import INVALID_SPAN, set_span_in_context  # noqa: PLC0415  # as above

    # Else a record takes the trace of the job that sends it; the trace of the interaction is not known. An empty
    # context is taken for none.
    no_trace = set_span_in_context(INVALID_SPAN)
    scope = InstrumentationScope("agent_feedback", VERSION)
    logs = [
        ReadableLogRecord(
            LogRecord(
                timestamp=_nanoseconds(record.occurred_at),
                observed_timestamp=_nanoseconds(now),
                context=no_trace,
                severity_number=SeverityNumber.INFO,
                event_name=EVENT_NAME,
                attributes=record.attributes,
            ),
            _resource(),
            scope,
        )
        for record in records
    ]
    _response.status = None
    if _exporter().export(logs) is LogRecordExportResult.SUCCESS:
        return Answer.TAKEN
    return Answer.REFUSED if _response.status in BAD_DATA_STATUSES else Answer.FAILED


def _nanoseconds(instant: datetime) -> int:
    return int(instant.timestamp() * 1_000_000) * 1_000


@cache
def _resource() -> Any:
    """Return the resource of the events: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES replace its defaults."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource  # noqa: PLC0415  # as above

    return Resource({"service.name": SERVICE_NAME, "service.version": VERSION}).merge(OTELResourceDetector().detect())


@cache
def _exporter() -> Any:
    import requests  # noqa: PLC0415  # as above
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter  # noqa: PLC0415  # as above

    # The exporter tells a success from a failure only.
    session = requests.Session()
    session.hooks["response"].append(_remember_status)
    return OTLPLogExporter(session=session)


def _remember_status(response: Any, **_: Any) -> None:
    """Remember the status of the last response in this thread."""
    _response.status = response.status_code
