"""Retention rules of interactions and sessions."""

from app.core.retention import Group, RetentionRule
from app.interactions.counts import record_removed

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "interactions",
        ("id",),
        "received_at",
        "what agents did is kept for as long as the company wants",
        follow_ups=(record_removed("removed_rows"),),
    ),
    RetentionRule(
        Group.FEEDBACK,
        "sessions",
        ("source", "ref", "customer_ref"),
        "last_seen_at",
        "a session ends with its last interaction",
    ),
)

TABLES_WITHOUT_RULES = {
    "promotions": "until its job has removed them, within a minute",
    "interaction_changes": "until its job has moved them into the day counts, within a minute",
    "uncounted_days": "until its job has counted them, within minutes of an upgrade",
}
