"""Decisions outlive the feedback that they were about."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {
    "consent_subjects": "a refusal that was forgotten would be asked again",
    "consent_decisions": "the proof of what was decided",
}
