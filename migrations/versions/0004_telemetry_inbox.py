"""Batches that were accepted and not yet persisted."""

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE telemetry_inbox (
            environment_id uuid NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            received_at timestamptz NOT NULL,
            events text NOT NULL,
            event_count integer NOT NULL,
            parked_at timestamptz,
            CONSTRAINT pk_telemetry_inbox PRIMARY KEY (environment_id, id)
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
    """)
