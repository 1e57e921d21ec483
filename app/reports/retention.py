"""Retention rules of reports."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "reports",
        ("interaction_id",),
        "created_at",
        "a report is removed by its own age, as a review is",
    ),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
