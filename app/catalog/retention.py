"""Fields stay until they are deleted."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

KEPT = {"enrichment_fields": "until it is deleted"}
