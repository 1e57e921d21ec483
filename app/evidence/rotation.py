"""What evidence needs secrets for."""

from app.core.rotation import PepperUse, Retention, SealedColumn
from app.evidence.rules import MAX_CLOCK_LEAD

SEALED_COLUMNS: tuple[SealedColumn, ...] = ()

PEPPER_USES = (
    PepperUse(
        "evidence",
        "evidence that is sent again would be counted twice",
        columns=("evidence_events.digest", "evidence_events.source_digest"),
        lasts_for=MAX_CLOCK_LEAD,
        retention=Retention.EVIDENCE,
    ),
)

OTHER_COLUMNS: dict[str, str] = {}
