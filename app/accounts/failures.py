"""Record failed attempts to sign in."""

import uuid

from app.accounts.rules import MAX_RECORDED_FAILURES, Client, FailureReason
from app.accounts.service import record_user_entry
from app.accounts.throttle import count_failure
from app.core.database import transaction
from app.core.metrics.counting import count
from app.core.metrics.families import SIGN_IN_FAILURES

UNAUTHENTICATED_ACTOR = "unauthenticated client"


def record_failure(email: str, user_id: uuid.UUID | None, client: Client, reason: FailureReason) -> None:
    """Add a failed attempt to the audit log of the user's workspaces, in a transaction of its own.

    The number of entries of an account is bounded; the last of a day says so. An attempt at an unknown e-mail address
    belongs to no workspace, but is counted all the same, so that its duration does not tell that it is unknown.
    """
    count(SIGN_IN_FAILURES, reason.label)
    with transaction():
        failures = count_failure(email)
        if user_id is None or failures > MAX_RECORDED_FAILURES:
            return
        details = {"reason": reason, "browser": client.browser, "network": client.network}
        if failures == MAX_RECORDED_FAILURES:
            details["further"] = "not recorded today"
        record_user_entry(user_id, UNAUTHENTICATED_ACTOR, "sign_in.failed", **details)
