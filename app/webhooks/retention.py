"""Retention rules of webhooks."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "webhook_deliveries",
        ("id",),
        "created_at",
        "the log of deliveries refers to interactions, and is kept for as long",
    ),
)

TABLES_WITHOUT_RULES = {"webhook_endpoints": "until somebody removes it"}
