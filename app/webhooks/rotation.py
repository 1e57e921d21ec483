"""What webhooks need secrets for."""

from app.core.rotation import PepperUse, SealedColumn

SEALED_COLUMNS = (
    SealedColumn("webhook_endpoints", ("environment_id", "id"), "sealed_secret"),
    SealedColumn("webhook_endpoints", ("environment_id", "id"), "sealed_old_secret"),
)

PEPPER_USES: tuple[PepperUse, ...] = ()

COLUMNS_WITHOUT_SECRET: dict[str, str] = {}
