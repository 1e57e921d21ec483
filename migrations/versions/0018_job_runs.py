"""When each background job last ran."""

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Create the table."""
    op.execute("""
        -- Updated every second under load: room for updates within a page keeps the index out of it.
        CREATE TABLE job_runs (
            job text CONSTRAINT pk_job_runs PRIMARY KEY,
            started_at timestamptz NOT NULL,
            succeeded_at timestamptz,
            scheduled_at timestamptz
        ) WITH (fillfactor = 50);
    """)
