"""Indexes by which data is read out: reports by id, decisions and outcomes by time."""

from alembic import op

revision = "0029"
down_revision = "0028"

INDEXES = {
    "ix_reports_id": "UNIQUE INDEX CONCURRENTLY ix_reports_id ON reports (environment_id, id)",
    "ix_consent_decisions_decided": (
        "INDEX CONCURRENTLY ix_consent_decisions_decided ON consent_decisions (environment_id, decided_at)"
    ),
    "ix_personalization_decisions_created": (
        "INDEX CONCURRENTLY ix_personalization_decisions_created ON personalization_decisions (product_id, created_at)"
    ),
    "ix_personalization_outcomes_created": (
        "INDEX CONCURRENTLY ix_personalization_outcomes_created ON personalization_outcomes (product_id, created_at)"
    ),
}


def upgrade() -> None:
    """Build the indexes beside the traffic; what an interrupted build has left is removed first."""
    with op.get_context().autocommit_block():
        for name, definition in INDEXES.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            op.execute(f"CREATE {definition}")
