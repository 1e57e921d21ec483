"""What accounts need secrets for."""

from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT
from app.core.rotation import PepperUse, SealedColumn

SEALED_COLUMNS = (
    SealedColumn(
        "second_factors",
        ("user_id",),
        "sealed_secret",
        "{count} users cannot sign in with the codes of their second factor, but with recovery codes, or after "
        "`flask user set --no-second-factor`",
    ),
)

PEPPER_USES = (
    PepperUse(
        "counters of failed sign-ins",
        "counters of failed sign-ins would begin again, and open forms be stale",
        "failed sign-ins are counted anew, and open forms are stale",
        columns=("sign_in_throttles.digest",),
        needed_for=ACCOUNT_ADDRESS_LIMIT.reset_after,
    ),
)

COLUMNS_WITHOUT_SECRET = {
    "invitations.digest": "a digest of 256 random bits, without a key",
    "login_sessions.digest": "a digest of 256 random bits, without a key",
    "second_factors.recovery_digests": "digests of 80 random bits each, without a key",
}
