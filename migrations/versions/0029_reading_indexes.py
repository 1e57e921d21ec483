"""Indexes by which data is read out: reports by id, decisions and outcomes by time."""

from migrations.online import create_index

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    """Build the indexes beside the traffic; a run that ends in between builds all four anew."""
    create_index("ix_reports_id", "reports (environment_id, id)", is_unique=True)
    create_index("ix_consent_decisions_decided", "consent_decisions (environment_id, decided_at)")
    create_index("ix_personalization_decisions_created", "personalization_decisions (product_id, created_at)")
    create_index("ix_personalization_outcomes_created", "personalization_outcomes (product_id, created_at)")
