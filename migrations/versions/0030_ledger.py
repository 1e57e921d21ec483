"""The delivery ledger: what became of events, by day and sender."""

from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE ledger_batches (
            environment_id uuid NOT NULL,
            id uuid NOT NULL,
            expires_at timestamptz NOT NULL,
            changes jsonb,
            CONSTRAINT pk_ledger_batches PRIMARY KEY (environment_id, id)
        );
        CREATE INDEX ix_ledger_batches_expires ON ledger_batches (environment_id, expires_at);
        -- Rows come and go here all the time; a share of the table is no measure of when to clean up.
        CREATE TABLE ledger_changes (
            environment_id uuid NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            day_on date NOT NULL,
            source text NOT NULL,
            sdk text NOT NULL,
            version text NOT NULL,
            measure text NOT NULL,
            name text NOT NULL,
            events bigint NOT NULL,
            CONSTRAINT pk_ledger_changes PRIMARY KEY (environment_id, id)
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
        CREATE TABLE ledger_days (
            environment_id uuid NOT NULL,
            day_on date NOT NULL,
            source text NOT NULL,
            sdk text NOT NULL,
            version text NOT NULL,
            measure text NOT NULL,
            name text NOT NULL,
            events bigint NOT NULL,
            CONSTRAINT pk_ledger_days PRIMARY KEY (environment_id, day_on, source, sdk, version, measure, name)
        );
    """)
