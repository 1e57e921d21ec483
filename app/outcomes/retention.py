"""Retention rules of reviews."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "reviews",
        ("interaction_id",),
        "created_at",
        "a review is removed by its own age; its outcome is counted for as long as its interaction is there",
    ),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
