"""What of a span leaves the process."""

import pytest
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from app.core.traces.cleaning import MAX_STATEMENT_LENGTH, clean_span, clean_statement, is_sent

CONTEXT = SpanContext(1, 2, True, TraceFlags(1), TraceState([("vendor", "somebody")]))


def server_span(**attributes: str) -> ReadableSpan:
    return ReadableSpan("GET /somebody", CONTEXT, kind=SpanKind.SERVER, attributes=attributes)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("EXECUTE record_review (%s, %s)", "EXECUTE record_review (%s, %s)"),
        ("SELECT id FROM t WHERE a = %(a_1)s AND b1 = $1", "SELECT id FROM t WHERE a = %(a_1)s AND b1 = $1"),
        ("UPDATE t SET a = 'it''s me' WHERE id = 42", "UPDATE t SET a = ? WHERE id = ?"),
        (r"INSERT INTO t VALUES (E'back\\slash', -1.5);INSERT", "INSERT INTO t VALUES (E?, -?);INSERT"),
        ("SELECT 'never closed", "SELECT 'never closed"),
        (" SELECT ''  ", "SELECT ?"),
    ],
)
def test_a_statement_is_sent_without_values(statement: str, expected: str) -> None:
    assert clean_statement(statement) == expected


def test_a_value_at_the_end_of_what_fits_is_not_cut_open() -> None:
    statement = "x" * (MAX_STATEMENT_LENGTH - 8) + " 'somebody'"
    assert "some" not in clean_statement(statement)
    assert len(clean_statement(statement)) <= MAX_STATEMENT_LENGTH


def test_only_the_listed_attributes_are_sent() -> None:
    span = clean_span(
        server_span(
            **{
                "http.method": "GET",
                "http.route": "/orders/<id>",
                "http.target": "/orders/7?token=secret",
                "http.user_agent": "somebody",
                "net.peer.ip": "203.0.113.7",
                "http.request.header.authorization": "Bearer secret",
            }
        )
    )
    assert dict(span.attributes or {}) == {"http.method": "GET", "http.route": "/orders/<id>"}
    assert span.name == "GET /orders/<id>"


def test_an_unknown_address_does_not_name_a_span() -> None:
    assert clean_span(server_span(**{"http.method": "GET"})).name == "GET"
    assert clean_span(server_span()).name == "HTTP"


def test_a_prepared_statement_names_its_span() -> None:
    attributes = {"db.statement": "EXECUTE add_batch (%s, %s)"}
    assert clean_span(ReadableSpan("EXECUTE", CONTEXT, attributes=attributes)).name == "EXECUTE add_batch"


def test_an_exception_is_sent_by_its_type_only() -> None:
    attributes = {
        "exception.type": "psycopg2.errors.UniqueViolation",
        "exception.message": "Key (email)=(somebody@example.com) already exists.",
        "exception.stacktrace": "… somebody@example.com …",
    }
    status = Status(StatusCode.ERROR, "Key (email)=(somebody@example.com)")
    span = clean_span(ReadableSpan("INSERT", CONTEXT, events=[Event("exception", attributes, 7)], status=status))
    assert [(event.name, dict(event.attributes or {}), event.timestamp) for event in span.events] == [
        ("exception", {"exception.type": "psycopg2.errors.UniqueViolation"}, 7)
    ]
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)


def test_what_a_caller_wrote_into_the_state_of_a_trace_is_not_sent() -> None:
    link = Link(CONTEXT, {"somebody": "here"})
    span = clean_span(ReadableSpan("run", CONTEXT, parent=CONTEXT, links=[link]))
    contexts = [span.context, span.parent, *(sent.context for sent in span.links)]
    assert [(context.trace_id, context.span_id, len(context.trace_state)) for context in contexts if context] == [
        (1, 2, 0)
    ] * 3
    assert not span.links[0].attributes


def test_a_statement_outside_of_a_request_or_job_is_not_sent() -> None:
    assert not is_sent(ReadableSpan("SELECT", CONTEXT, kind=SpanKind.CLIENT))
    assert is_sent(ReadableSpan("SELECT", CONTEXT, parent=CONTEXT, kind=SpanKind.CLIENT))
    assert is_sent(ReadableSpan("GET", CONTEXT, kind=SpanKind.SERVER))
