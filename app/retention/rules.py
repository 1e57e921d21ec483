"""Which rows leave, when, and why."""

from dataclasses import dataclass
from enum import StrEnum

from app.evidence.counts import note_changes


class Leaves(StrEnum):
    """What is written in the statement that removes rows, from what it removed."""

    NOTHING = ""
    DAY_MARK = """
        INSERT INTO day_marks (environment_id, day_on)
        SELECT DISTINCT CAST(:environment_id AS uuid), (at AT TIME ZONE 'UTC')::date FROM gone
    """
    CLOSED_REQUEST = """
        INSERT INTO closed_requests (environment_id, interaction_id, closed_at)
        SELECT :environment_id, interaction_id, at FROM gone ON CONFLICT DO NOTHING
    """
    FEWER_EVENTS = note_changes("gone", "-")


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows of `table` whose `clock` is older than the environment's retention leave."""

    table: str
    key: tuple[str, ...]
    clock: str
    why: str
    leaves: Leaves = Leaves.NOTHING
    is_own_end: bool = False
    """Whether `clock` says itself when a row ends, whatever the retention."""


FEEDBACK = (
    Rule(
        "interactions",
        ("id",),
        "received_at",
        "what agents did is kept for as long as the company wants",
        Leaves.DAY_MARK,
    ),
    Rule(
        "reviews",
        ("interaction_id",),
        "created_at",
        "a review goes by its own age, with or without its interaction",
        Leaves.DAY_MARK,
    ),
    Rule("reports", ("interaction_id",), "created_at", "a report goes by its own age, as a review does"),
    Rule("telemetry_inbox", ("id",), "received_at", "a parked batch holds the company's references as well"),
    Rule("sessions", ("source", "ref", "customer_ref"), "last_seen_at", "a session ends with its last interaction"),
    Rule("closed_requests", ("interaction_id",), "closed_at", "an interaction that has gone asks no more"),
)
"""Retention goes by arrival, which is ours; what a product says of its own time can be anything."""

ENRICHMENT = (
    Rule("signals", ("product_id", "id"), "expires_at", "nobody sees it any more", is_own_end=True),
    Rule("signals", ("product_id", "id"), "created_at", "a retention that was shortened counts for what is there"),
    Rule(
        "enrichment_requests",
        ("interaction_id",),
        "expires_at",
        "its handle has ended; what it observed of a call is nobody's business any more",
        Leaves.CLOSED_REQUEST,
        is_own_end=True,
    ),
    Rule("context_retrievals", ("product_id", "id"), "created_at", "a decision about it would have been made by now"),
)


@dataclass(frozen=True, slots=True)
class Ending:
    """Rows of `table` that end by themselves, at their own `expires_at`, leave after it."""

    table: str
    key: str
    why: str


EVIDENCE = (
    Rule(
        "evidence_events",
        ("digest",),
        "observed_at",
        "evidence goes by when it was observed, and what is older does not come in either",
        Leaves.FEWER_EVENTS,
    ),
)
"""Of a retention of its own."""

SIGN_INS = (
    Ending("login_sessions", "id", "a session that has ended opens nothing; who signed in when is in the audit log"),
    Ending("sign_in_throttles", "digest", "a counter that is forgotten counts from one again"),
)

STAYS = {
    "workspaces": "until it is removed",
    "users": "until somebody removes them",
    "memberships": "until somebody removes them",
    "audit_entries": "who changed what is asked years later",
    "products": "until it is deleted, with everything of it",
    "environments": "until its product is deleted",
    "keys": "a revoked key is still known as revoked",
    "enrichment_fields": "until it is deleted",
    "consent_subjects": "a refusal that was forgotten would be asked again",
    "consent_decisions": "the proof of what was decided",
    "customer_choices": "a refusal that was forgotten would be asked again",
    "personalization_decisions": "a retry gets the same answer for ever",
    "personalization_outcomes": "a retry gets the same answer for ever",
    "customers": "until nobody has named them for the retention and no refusal is on record; see `expire_feedback`",
    "customer_references": "with their customers",
    "promotions": "until its job has taken them, within a minute",
    "day_marks": "until its job has taken them, within a minute",
    "interaction_days": "counts leave with what they count",
    "evidence_changes": "until its job has moved them into the day counts, within a minute",
    "evidence_days": "counts leave with what they count",
    "job_runs": "one row for each job, updated by each run",
}
"""Tables without a rule of age, and why."""

ENVIRONMENT_TABLES = (
    "telemetry_inbox",
    "promotions",
    "day_marks",
    "interactions",
    "sessions",
    "reviews",
    "reports",
    "interaction_days",
    "enrichment_requests",
    "closed_requests",
    "evidence_events",
    "evidence_changes",
    "evidence_days",
)
"""Tables that lead with their environment and have no foreign key to it, in the order in which rows come into them."""

PRODUCT_TABLES = (
    "signals",
    "context_retrievals",
    "personalization_decisions",
    "personalization_outcomes",
    "customer_choices",
    "customer_references",
    "customers",
)
"""The same for tables that lead with their product."""

BITE = 2_000
"""Rows in one transaction: some ten milliseconds, so that nobody waits for a purge."""

BUDGET_S = 90.0
"""Of one run, below the time after which the broker hands a task to another worker; the rest waits for the next."""
