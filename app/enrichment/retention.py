"""Retention rules of signals and requests, which are counted by their fields when they leave."""

from app.core.retention import Group, RetentionRule
from app.enrichment.sql import field_counts

_CLOSE_REQUEST = """
    INSERT INTO closed_requests (environment_id, interaction_id, closed_at)
    SELECT environment_id, interaction_id, expires_at FROM removed_rows ON CONFLICT DO NOTHING
"""

# In the order of the key, so that two statements that count the same fields do not wait for each other.
_COUNT_FIELDS = f"""
    INSERT INTO field_days AS d (environment_id, day_on, key, purpose, asked, answered)
    {field_counts("removed_rows")}
    ORDER BY environment_id, day_on, key, purpose
    ON CONFLICT (environment_id, day_on, key, purpose) DO UPDATE
        SET asked = d.asked + excluded.asked, answered = d.answered + excluded.answered
"""

RULES = (
    RetentionRule(
        Group.ENRICHMENT, "signals", ("product_id", "id"), "expires_at", "no retrieval returns it", is_expiry=True
    ),
    RetentionRule(
        Group.ENRICHMENT,
        "signals",
        ("product_id", "id"),
        "created_at",
        "a retention that was shortened applies to what is stored",
    ),
    RetentionRule(
        Group.ENRICHMENT,
        "enrichment_requests",
        ("interaction_id",),
        "expires_at",
        "its handle has expired; what was observed of a call is needed no longer",
        follow_ups=(_CLOSE_REQUEST, _COUNT_FIELDS),
        is_expiry=True,
    ),
    RetentionRule(
        Group.FEEDBACK,
        "closed_requests",
        ("interaction_id",),
        "closed_at",
        "an interaction that was removed makes no further request",
    ),
    RetentionRule(
        Group.FEEDBACK,
        "field_days",
        ("day_on", "key", "purpose"),
        "day_on",
        "counts say nothing of a person; they are kept as long as what they count",
    ),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
