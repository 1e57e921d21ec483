"""Retention rules of signals and requests."""

from app.core.retention import Group, RetentionRule

_CLOSE_REQUEST = """
    INSERT INTO closed_requests (environment_id, interaction_id, closed_at)
    SELECT environment_id, interaction_id, expires_at FROM removed_rows ON CONFLICT DO NOTHING
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
        follow_ups=(_CLOSE_REQUEST,),
        is_expiry=True,
    ),
    RetentionRule(
        Group.FEEDBACK,
        "closed_requests",
        ("interaction_id",),
        "closed_at",
        "an interaction that was removed makes no further request",
    ),
)

TABLES_WITHOUT_RULES: dict[str, str] = {}
