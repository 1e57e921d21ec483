"""Retention rules of the delivery ledger."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.FEEDBACK,
        "ledger_days",
        ("day_on", "source", "sdk", "version", "measure", "name"),
        "day_on",
        "counts say nothing of a person; they are kept as long as what they count",
    ),
    RetentionRule(
        Group.FEEDBACK,
        "ledger_batches",
        ("id",),
        "expires_at",
        "no SDK repeats a batch after so long",
        is_expiry=True,
    ),
)

TABLES_WITHOUT_RULES = {"ledger_changes": "until its job has moved them into the day counts, within a minute"}
