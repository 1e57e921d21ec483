"""From which browser and network a session was opened."""

from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Add the columns; null for the sessions that there are."""
    op.execute("ALTER TABLE login_sessions ADD COLUMN browser text, ADD COLUMN network text")
