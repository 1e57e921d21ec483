"""Retention rules of consent: none, since decisions are kept longer than feedback."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {
    "consent_subjects": "without it, a customer who declined would be asked again",
    "consent_decisions": "the proof of what was decided",
}
