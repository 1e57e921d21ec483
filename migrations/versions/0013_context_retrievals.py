"""What was retrieved, so that a decision can name it."""

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Create the table."""
    op.execute("""
        CREATE TABLE context_retrievals (
            product_id uuid NOT NULL,
            id uuid NOT NULL,
            environment_id uuid NOT NULL,
            customer_id uuid,
            purpose text NOT NULL CONSTRAINT ck_context_retrievals_purpose
                CHECK (purpose IN ('product_personalization', 'targeted_advertising')),
            signal_ids uuid[] NOT NULL,
            created_at timestamptz NOT NULL,
            CONSTRAINT pk_context_retrievals PRIMARY KEY (product_id, id)
        );
        CREATE INDEX ix_context_retrievals_created ON context_retrievals (environment_id, created_at);
        CREATE INDEX ix_context_retrievals_customer ON context_retrievals (product_id, customer_id);
    """)
