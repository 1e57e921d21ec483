"""Retention rules of day counts: none, since they fall with the interactions that are removed."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {"interaction_days": "a count that becomes zero is removed with its last interaction"}
