"""Reviews."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE reviews (
            environment_id uuid NOT NULL,
            interaction_id uuid NOT NULL,
            id uuid NOT NULL,
            outcome text NOT NULL CONSTRAINT ck_reviews_outcome CHECK (outcome IN ('success', 'partial', 'failure')),
            note text NOT NULL,
            created_at timestamptz NOT NULL,
            CONSTRAINT pk_reviews PRIMARY KEY (environment_id, interaction_id)
        );
        CREATE INDEX ix_reviews_created ON reviews (environment_id, created_at);
    """)
