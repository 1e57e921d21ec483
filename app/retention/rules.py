"""Which rows leave, when, and why."""

from dataclasses import dataclass

from app.evidence.counts import note_changes


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows of `table` whose `clock` is older than the environment's retention leave."""

    table: str
    key: tuple[str, ...]
    clock: str
    why: str
    follow_up: str | None = None
    """What keeps the counts true: a statement over `gone`, the rows that leave."""


def _mark_day(clock: str) -> str:
    """Return the follow-up that has the days of the rows counted anew."""
    return f"""
        INSERT INTO day_marks (environment_id, day_on)
        SELECT DISTINCT environment_id, ({clock} AT TIME ZONE 'UTC')::date FROM gone
    """


FEEDBACK = (
    Rule(
        "interactions",
        ("id",),
        "received_at",
        "what agents did is kept for as long as the company wants",
        _mark_day("received_at"),
    ),
    Rule(
        "reviews",
        ("interaction_id",),
        "created_at",
        "a review goes by its own age, with or without its interaction",
        _mark_day("created_at"),
    ),
    Rule("reports", ("interaction_id",), "created_at", "a report goes by its own age, as a review does"),
    Rule("telemetry_inbox", ("id",), "received_at", "a parked batch holds the company's references as well"),
    Rule("sessions", ("source", "ref", "customer_ref"), "last_seen_at", "a session ends with its last interaction"),
)
"""Retention goes by arrival, which is ours; what a product says of its own time can be anything."""

EVIDENCE = (
    Rule(
        "evidence_events",
        ("digest",),
        "observed_at",
        "evidence goes by whole UTC days of observation, of which the summary shows as many as are kept",
        note_changes("gone", "-"),
    ),
)
"""Of its own retention, which also decides at the door what is too old to come in."""

ENVIRONMENT_TABLES = (
    "telemetry_inbox",
    "promotions",
    "day_marks",
    "interactions",
    "sessions",
    "reviews",
    "reports",
    "interaction_days",
    "evidence_events",
    "evidence_changes",
    "evidence_days",
)
"""Tables without a foreign key to their environment, in the order in which rows come into them."""

BITE = 2_000
"""Rows in one transaction: some ten milliseconds, so that nobody waits for a purge."""

BUDGET_S = 90.0
"""Of one run, below the time after which the broker hands a task to another worker; the rest waits for the next."""
