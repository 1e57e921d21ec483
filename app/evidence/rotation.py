"""What evidence needs secrets for, declared for `app.secrets`."""

from app.core.rotation import PepperUse, Retention, SealedColumn
from app.evidence.rules import MAX_CLOCK_LEAD

SEALED_COLUMNS: tuple[SealedColumn, ...] = ()

PEPPER_USES = (
    PepperUse(
        "evidence",
        "evidence that is sent again would be counted twice",
        "evidence that is sent again is counted twice",
        columns=("evidence_events.digest", "evidence_events.source_digest"),
        needed_for=MAX_CLOCK_LEAD,
        retention=Retention.EVIDENCE,
    ),
)

COLUMNS_WITHOUT_SECRET: dict[str, str] = {}
