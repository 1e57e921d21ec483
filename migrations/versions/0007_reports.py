"""Reports."""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE reports (
            environment_id uuid NOT NULL,
            interaction_id uuid NOT NULL,
            id uuid NOT NULL,
            summary text NOT NULL,
            impact text CONSTRAINT ck_reports_impact
                CHECK (impact IN ('helped', 'helped_with_friction', 'neutral', 'hindered', 'blocked', 'unknown')),
            confidence double precision,
            findings jsonb NOT NULL,
            workaround jsonb,
            created_at timestamptz NOT NULL,
            CONSTRAINT pk_reports PRIMARY KEY (environment_id, interaction_id)
        );
        CREATE INDEX ix_reports_created ON reports (environment_id, created_at);
    """)
