"""Record under which pepper a digest is, and since when a pepper is replaced."""

from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Add the columns and the table; null, as of every row that is there, is an unknown pepper."""
    op.execute("ALTER TABLE keys ADD COLUMN pepper_id bytea")
    op.execute("ALTER TABLE customer_references ADD COLUMN pepper_id bytea")
    op.execute("""
        CREATE TABLE replaced_peppers (
            id bytea CONSTRAINT pk_replaced_peppers PRIMARY KEY,
            replaced_at timestamptz NOT NULL
        )
    """)
