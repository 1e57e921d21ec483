"""Counts of interactions and reviews by day and operation."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE interaction_days (
            environment_id uuid NOT NULL,
            day_on date NOT NULL,
            operation text NOT NULL,
            surface text NOT NULL,
            interactions integer NOT NULL,
            confirmed integer NOT NULL,
            success integer NOT NULL,
            partial integer NOT NULL,
            failure integer NOT NULL,
            CONSTRAINT pk_interaction_days PRIMARY KEY (environment_id, day_on, operation, surface)
        );
    """)
