"""What webhooks need secrets for."""

from app.core.rotation import PepperUse, SealedColumn

SEALED_COLUMNS = (
    SealedColumn(
        "webhook_endpoints",
        ("environment_id", "id"),
        "sealed_secret",
        "{count} webhook endpoints cannot be sent anything until `flask webhook rotate ENDPOINT_ID --overlap-hours 0`",
    ),
    SealedColumn(
        "webhook_endpoints",
        ("environment_id", "id"),
        "sealed_old_secret",
        "{count} webhook endpoints cannot be sent anything while their old secret is to sign as well: "
        "`flask webhook rotate ENDPOINT_ID --overlap-hours 0` removes it",
    ),
)

PEPPER_USES: tuple[PepperUse, ...] = ()

COLUMNS_WITHOUT_SECRET: dict[str, str] = {}
