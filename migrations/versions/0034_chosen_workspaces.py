"""Remember which of their workspaces users have switched to last."""

from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    """Add the column; it is null in a membership to which nobody has switched."""
    op.execute("ALTER TABLE memberships ADD COLUMN chosen_at timestamptz")
