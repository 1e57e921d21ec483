"""Fields stay until they are deleted."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {"enrichment_fields": "until it is deleted"}
