"""Retention rules of triage."""

from app.core.retention import Group, RetentionRule

_REASON = "it leaves with the review or report that it is about"

RULES = (
    RetentionRule(Group.FEEDBACK, "triages", ("feedback_id",), "feedback_at", _REASON),
    RetentionRule(Group.FEEDBACK, "triage_comments", ("id",), "feedback_at", _REASON),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
