"""How often somebody has tried to sign in."""

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Create the table."""
    op.execute("""
        CREATE TABLE sign_in_throttles (
            digest bytea CONSTRAINT pk_sign_in_throttles PRIMARY KEY,
            failures integer NOT NULL,
            free_at timestamptz,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX ix_sign_in_throttles_expires_at ON sign_in_throttles (expires_at);
    """)
