"""What of a span may leave the process: no value of a statement, no address, no path, no header, no message.

The instrumentations record more than that, and a release of theirs may add to it. So a span is made anew from what is
listed here before it is sent, in the thread that sends.
"""

import re
from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, SpanContext, SpanKind, Status

MAX_STATEMENT_LENGTH = 2_000

METHODS = ("http.method", "http.request.method")
STATEMENTS = ("db.statement", "db.query.text")

SENT_ATTRIBUTES = {
    *METHODS,
    *STATEMENTS,
    "http.route",
    "http.status_code",
    "http.response.status_code",
    "http.scheme",
    "url.scheme",
    "http.flavor",
    "network.protocol.version",
    "db.system",
    "db.system.name",
    "db.name",
    "db.namespace",
    "messaging.destination",
    "messaging.message.id",
    "celery.action",
    "celery.task_name",
    "celery.state",
    "celery.retries",
    "error.type",
}

# psycopg2 writes values into a statement that is executed for many rows: '…' with '' for a quote, or a number.
_DIGEST = re.compile(r"_[0-9a-f]{8}\Z")
_VALUE = re.compile(r"'(?:[^']|'')*'|(?<![\w$%.])\d+(?:\.\d+)?")


def clean_statement(statement: str) -> str:
    """Return a statement without values, shortened."""
    return _VALUE.sub("?", statement)[:MAX_STATEMENT_LENGTH].strip()


def clean_span(span: ReadableSpan) -> ReadableSpan:
    """Return what of a span may be sent."""
    attributes = {
        name: clean_statement(str(value)) if name in STATEMENTS else value
        for name, value in (span.attributes or {}).items()
        if name in SENT_ATTRIBUTES
    }
    return ReadableSpan(
        name=_name(span, attributes),
        context=_clean_context(span.context),
        parent=_clean_context(span.parent),
        resource=span.resource,
        attributes=attributes,
        events=[_clean_event(event) for event in span.events],
        links=[Link(context) for link in span.links if (context := _clean_context(link.context))],
        kind=span.kind,
        # Its description is an exception's message, which may repeat a value.
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def is_sent(span: ReadableSpan) -> bool:
    """Tell whether a span is sent: not a statement on its own, such as of a health check, whose request has no span."""
    return span.parent is not None or span.kind is not SpanKind.CLIENT


def _name(span: ReadableSpan, attributes: Mapping[str, Any]) -> str:
    """Return a name of few variants: the rule of a request and never its path, the statement that is executed."""
    if span.kind is SpanKind.SERVER:
        method = next((str(attributes[name]) for name in METHODS if name in attributes), "HTTP")
        return f"{method} {attributes['http.route']}" if "http.route" in attributes else method
    statement = next((str(attributes[name]) for name in STATEMENTS if name in attributes), "")
    if not statement.startswith(("EXECUTE ", "PREPARE ")):
        return span.name
    # The name on the server ends with a digest of the statement, and would differ with each release.
    return _DIGEST.sub("", " ".join(statement.split()[:2]))


def _clean_event(event: Event) -> Event:
    """Return an event with the type of its exception only."""
    kind = (event.attributes or {}).get("exception.type")
    return Event(event.name, {"exception.type": kind} if kind else {}, event.timestamp)


def _clean_context(context: SpanContext | None) -> SpanContext | None:
    """Return a context without its state, in which a caller may have written anything."""
    return context and SpanContext(context.trace_id, context.span_id, context.is_remote, context.trace_flags)
