"""Keys that can only read."""

from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Allow the kind; the keys that are there need no second look."""
    op.execute("""
        ALTER TABLE keys DROP CONSTRAINT ck_keys_kind,
            ADD CONSTRAINT ck_keys_kind CHECK (kind IN ('product', 'company', 'read')) NOT VALID
    """)
    op.execute("ALTER TABLE keys VALIDATE CONSTRAINT ck_keys_kind")
