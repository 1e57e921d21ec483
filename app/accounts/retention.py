"""When login sessions and sign-in counters leave."""

from app.core.retention import Group, RetentionRule

RULES = (
    RetentionRule(
        Group.SIGN_INS,
        "login_sessions",
        ("id",),
        "expires_at",
        "an expired session authenticates nobody; who signed in when is in the audit log",
        is_expiry=True,
        has_environment=False,
    ),
    RetentionRule(
        Group.SIGN_INS,
        "sign_in_throttles",
        ("digest",),
        "expires_at",
        "a counter that was removed counts from one again",
        is_expiry=True,
        has_environment=False,
    ),
)

TABLES_WITHOUT_RULES = {
    "workspaces": "until it is removed",
    "users": "until somebody removes them",
    "memberships": "until somebody removes them",
    "audit_entries": "who changed what is asked years later",
}
