"""Retention rules of login sessions, sign-in counters and invitations."""

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
        "an expired counter starts again from one",
        is_expiry=True,
        has_environment=False,
    ),
    RetentionRule(
        Group.SIGN_INS,
        "invitations",
        ("workspace_id", "id"),
        "expires_at",
        "an expired invitation admits nobody; who has invited whom is in the audit log",
        is_expiry=True,
        has_environment=False,
    ),
)

TABLES_WITHOUT_RULES = {
    "workspaces": "until it is removed",
    "users": "until somebody removes them",
    "memberships": "until somebody removes them",
    "second_factors": "until their user removes them",
    "user_identities": "as long as their user",
    "audit_entries": "an audit may ask years later who changed what",
}
