"""Answered questions."""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Create the table."""
    op.execute("""
        CREATE TABLE signals (
            product_id uuid NOT NULL,
            id uuid NOT NULL,
            environment_id uuid NOT NULL,
            interaction_id uuid NOT NULL,
            customer_id uuid,
            purpose text NOT NULL CONSTRAINT ck_signals_purpose
                CHECK (purpose IN ('product_personalization', 'targeted_advertising')),
            key text NOT NULL,
            type text NOT NULL,
            value text NOT NULL,
            summary text NOT NULL,
            provenance text NOT NULL CONSTRAINT ck_signals_provenance CHECK (
                provenance IN ('agent_reports_user_statement', 'agent_reports_current_task', 'agent_inference')),
            confidence double precision,
            remembered boolean NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            CONSTRAINT pk_signals PRIMARY KEY (product_id, id)
        );
        CREATE INDEX ix_signals_customer ON signals (product_id, customer_id, purpose);
        CREATE INDEX ix_signals_interaction ON signals (environment_id, interaction_id);
        CREATE INDEX ix_signals_expires ON signals (environment_id, expires_at);
        CREATE INDEX ix_signals_created ON signals (environment_id, created_at);
    """)
