"""Personalization decisions and their outcomes."""

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE personalization_decisions (
            product_id uuid NOT NULL,
            external_id text NOT NULL,
            id uuid NOT NULL,
            retrieval_id uuid NOT NULL,
            customer_id uuid,
            purpose text NOT NULL CONSTRAINT ck_personalization_decisions_purpose
                CHECK (purpose IN ('product_personalization', 'targeted_advertising')),
            signal_ids uuid[] NOT NULL,
            variant text,
            created_at timestamptz NOT NULL,
            CONSTRAINT pk_personalization_decisions PRIMARY KEY (product_id, external_id)
        );
        CREATE UNIQUE INDEX ix_personalization_decisions_id ON personalization_decisions (product_id, id);
        CREATE INDEX ix_personalization_decisions_customer ON personalization_decisions (product_id, customer_id);
        CREATE TABLE personalization_outcomes (
            product_id uuid NOT NULL,
            external_id text NOT NULL,
            id uuid NOT NULL,
            decision_id uuid NOT NULL,
            outcome text NOT NULL CONSTRAINT ck_personalization_outcomes_outcome
                CHECK (outcome IN ('conversion', 'completion', 'engagement', 'dismissal', 'abandonment')),
            occurred_at timestamptz,
            created_at timestamptz NOT NULL,
            CONSTRAINT pk_personalization_outcomes PRIMARY KEY (product_id, external_id)
        );
        CREATE INDEX ix_personalization_outcomes_decision ON personalization_outcomes (product_id, decision_id);
    """)
