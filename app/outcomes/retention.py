"""Retention rules of reviews."""

from app.core.retention import Group, RetentionRule
from app.interactions.sql import day_marks

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "reviews",
        ("interaction_id",),
        "created_at",
        "a review is removed by its own age, with or without its interaction",
        follow_ups=(day_marks("removed_rows", "created_at"),),
    ),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
