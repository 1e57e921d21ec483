"""Day counts leave with what they count."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {"interaction_days": "counts leave with what they count"}
