"""Keep the durations, failures and periods of jobs."""

from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Add the columns; the table has one row for each job."""
    op.execute("""
        ALTER TABLE job_runs
            ALTER COLUMN started_at DROP NOT NULL,
            ADD COLUMN failed_at timestamptz,
            ADD COLUMN failures bigint NOT NULL DEFAULT 0,
            ADD COLUMN last_duration_s double precision,
            ADD COLUMN duration_sum_s double precision NOT NULL DEFAULT 0,
            -- One for each bucket of JOB_BUCKETS_S, and one for what is beyond the last.
            ADD COLUMN duration_counts bigint[] NOT NULL DEFAULT '{0,0,0,0,0,0,0,0,0,0,0}',
            ADD COLUMN period_s integer,
            ADD COLUMN planned_since timestamptz
    """)
