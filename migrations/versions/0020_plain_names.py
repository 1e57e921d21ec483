"""Name columns by the terms of the field."""

from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Rename the columns."""
    op.execute("ALTER TABLE audit_entries RENAME COLUMN deed TO action")
    op.execute("ALTER TABLE promotions RENAME COLUMN noted_at TO created_at")
