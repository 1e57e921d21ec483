"""Which rows leave, when, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows of `table` whose `clock` is older than the environment's retention leave."""

    table: str
    key: tuple[str, ...]
    clock: str
    why: str
    marks_day: bool = False
    """Whether the day counts of the day that a row belongs to must be made anew."""


FEEDBACK = (
    Rule("interactions", ("id",), "received_at", "what agents did is kept for as long as the company wants", True),
    Rule(
        "reviews",
        ("interaction_id",),
        "created_at",
        "a review goes by its own age, with or without its interaction",
        True,
    ),
    Rule("reports", ("interaction_id",), "created_at", "a report goes by its own age, as a review does"),
    Rule("telemetry_inbox", ("id",), "received_at", "a parked batch holds the company's references as well"),
    Rule("sessions", ("source", "ref", "customer_ref"), "last_seen_at", "a session ends with its last interaction"),
)
"""Retention goes by arrival, which is ours; what a product says of its own time can be anything."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Rows of `table` that end by themselves, at their own `expires_at`, leave after it."""

    table: str
    key: str
    why: str


SIGN_INS = (
    Ending("login_sessions", "id", "a session that has ended opens nothing; who signed in when is in the audit log"),
    Ending("sign_in_throttles", "digest", "a counter that is forgotten counts from one again"),
)

ENVIRONMENT_TABLES = (
    "telemetry_inbox",
    "promotions",
    "day_marks",
    "interactions",
    "sessions",
    "reviews",
    "reports",
    "interaction_days",
)
"""Tables without a foreign key to their environment, in the order in which rows come into them."""

BITE = 2_000
"""Rows in one transaction: some ten milliseconds, so that nobody waits for a purge."""

BUDGET_S = 90.0
"""Of one run, below the time after which the broker hands a task to another worker; the rest waits for the next."""
