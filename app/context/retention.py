"""Retention rules of retrievals."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.ENRICHMENT,
        "context_retrievals",
        ("product_id", "id"),
        "created_at",
        "decisions refer to recent retrievals only",
    ),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
