"""The members of an event that are stored, each with its column of `interactions` and its SQL type."""

from typing import NamedTuple


class EventColumn(NamedTuple):
    """One stored member; an optional one is filled by a later event if the first had none."""

    member: str
    column: str
    sql_type: str
    is_optional: bool = True


EVENT_COLUMNS = (
    EventColumn("interactionId", "id", "uuid", is_optional=False),
    EventColumn("surface", "surface", "text", is_optional=False),
    EventColumn("operation", "operation", "text", is_optional=False),
    # Every event has it; an interaction that a review inserted before its event has none.
    EventColumn("occurredAt", "occurred_at", "timestamp with time zone"),
    EventColumn("statusCode", "status_code", "smallint"),
    EventColumn("durationMs", "duration_ms", "double precision"),
    EventColumn("customerRef", "customer_ref", "text"),
    EventColumn("runtimeHint", "runtime_hint", "text"),
    EventColumn("runtimeHintSource", "runtime_hint_source", "text"),
    EventColumn("sessionRef", "session_ref", "text"),
    EventColumn("sessionSource", "session_source", "text"),
)

IGNORED_MEMBERS = {
    "classification": "telemetry alone confirms nothing; the surface says what is confirmed",
    "confirmationMethod": "as the classification",
}

OPTIONAL_COLUMNS = tuple(column.column for column in EVENT_COLUMNS if column.is_optional)
