"""Under which identity level a signal was answered."""

from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Add the column; null, as of every signal that is there, counts as verified."""
    # Without a check, which would hold the table while it is read; the value is a copy of the request's, which has one.
    op.execute("ALTER TABLE signals ADD COLUMN identity_level text")
