"""Under which identity level a signal was answered."""

from alembic import op

revision = "0019"
down_revision = "0017"


def upgrade() -> None:
    """Add the column; null, as of every signal that is there, counts as verified."""
    # Not validated: what is there is null, and checking it would hold the table while it is read.
    op.execute("""
        ALTER TABLE signals
            ADD COLUMN identity_level text,
            ADD CONSTRAINT ck_signals_identity_level
                CHECK (identity_level IN ('verified', 'pseudonymous', 'ephemeral')) NOT VALID;
    """)
