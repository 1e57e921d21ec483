"""Retention rules of personalization: none, since decisions and outcomes are kept."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {
    "personalization_decisions": "a retry gets the same answer for ever",
    "personalization_outcomes": "a retry gets the same answer for ever",
}
