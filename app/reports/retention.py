"""When reports leave."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "reports",
        ("interaction_id",),
        "created_at",
        "a report leaves by its own age, as a review does",
    ),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
