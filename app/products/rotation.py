"""What keys need secrets for."""

from app.core.rotation import PepperUse, SealedColumn

SEALED_COLUMNS = (
    SealedColumn(
        "keys", ("id",), "sealed_secret", "what is signed with {count} product keys is refused (401), reviews among it"
    ),
)

PEPPER_USES = (
    PepperUse(
        "keys",
        "keys that were not used since ({count}) would become invalid: `flask key list` shows the pepperId of each; "
        "use, rotate or revoke them",
        "requests with {count} keys are refused (401), and what is signed with them: create new keys",
        columns=("keys.digest",),
        rows="keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)",
        ends_at="CASE WHEN bool_and(expires_at IS NOT NULL) THEN max(expires_at) END",
    ),
)

COLUMNS_WITHOUT_SECRET = {"keys.pepper_id": "names a pepper, and tells nothing about it"}
