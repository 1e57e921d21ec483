"""Retention rules of evidence."""

from app.core.retention import Group, RetentionRule
from app.evidence.counts import record_changes

RULES = (
    RetentionRule(
        Group.EVIDENCE,
        "evidence_events",
        ("digest",),
        "observed_at",
        "evidence is removed by its time of observation; older evidence is not stored either",
        follow_ups=(record_changes("removed_rows", "-"),),
    ),
)

TABLES_WITHOUT_RULES = {
    "evidence_changes": "until its job has moved them into the day counts, within a minute",
    "evidence_days": "a count that becomes zero is removed with its last event",
}
