"""Retention rules of replaced peppers: none, since each pepper has one row."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {"replaced_peppers": "one row for each pepper that was ever replaced"}
