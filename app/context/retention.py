"""When retrievals leave."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.ENRICHMENT,
        "context_retrievals",
        ("product_id", "id"),
        "created_at",
        "a decision about it would have been made by now",
    ),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
