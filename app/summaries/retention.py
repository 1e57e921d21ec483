"""Day counts leave with what they count."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

KEPT = {"interaction_days": "counts leave with what they count"}
