"""Retention rules of telemetry batches that could not be persisted."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "telemetry_inbox",
        ("id",),
        "received_at",
        "a parked batch holds the company's references as well",
    ),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
