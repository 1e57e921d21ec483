"""Count interactions by their changes."""

from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    """Create the table, and a column for the outcome by which an interaction is counted.

    It has no constraint: its values come from `reviews`, which has one, and a check would read the whole table.
    """
    op.execute("ALTER TABLE interactions ADD COLUMN outcome text")
    op.execute("""
        -- Rows come and go here all the time; a share of the table is no measure of when to clean up.
        CREATE TABLE interaction_changes (
            environment_id uuid NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            day_on date NOT NULL,
            operation text NOT NULL,
            surface text NOT NULL,
            interactions integer NOT NULL,
            confirmed integer NOT NULL,
            success integer NOT NULL,
            partial integer NOT NULL,
            failure integer NOT NULL,
            CONSTRAINT pk_interaction_changes PRIMARY KEY (environment_id, id)
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
    """)
