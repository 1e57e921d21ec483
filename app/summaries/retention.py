"""Retention rules of day counts: none, since they are recounted when interactions are removed."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {"interaction_days": "counts are removed with the interactions that they count"}
