"""Retention rules of interactions and sessions."""

from app.core.retention import Group, RetentionRule
from app.interactions.sql import day_marks

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "interactions",
        ("id",),
        "received_at",
        "what agents did is kept for as long as the company wants",
        follow_ups=(day_marks("removed_rows"),),
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
    "day_marks": "until its job has removed them, within a minute",
}
