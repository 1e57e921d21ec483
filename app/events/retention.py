"""Retention rules of the outbox of events."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "events",
        ("id",),
        "created_at",
        "an event that could not be sent for so long refers to what is removed as well",
    ),
)

TABLES_WITHOUT_RULES = {"event_subscriptions": "until the last webhook endpoint that takes the event is removed"}
