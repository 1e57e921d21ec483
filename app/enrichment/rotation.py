"""What requests for context need secrets for."""

from datetime import timedelta

from app.core.rotation import PepperUse, SealedColumn
from app.enrichment.rules import HANDLE_LIFETIME_S

SEALED_COLUMNS: tuple[SealedColumn, ...] = ()

PEPPER_USES = (
    PepperUse(
        "request handles",
        "open request handles would become invalid, and retries of requests and answers be refused",
        "open request handles are refused (401), and so are retries of requests and answers",
        columns=("enrichment_requests.fingerprint", "enrichment_requests.answer_fingerprint"),
        needed_for=timedelta(seconds=HANDLE_LIFETIME_S),
    ),
)

COLUMNS_WITHOUT_SECRET: dict[str, str] = {}
