"""The second factor of a user."""

from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Create the table."""
    op.execute("""
        CREATE TABLE second_factors (
            user_id uuid CONSTRAINT pk_second_factors PRIMARY KEY
                CONSTRAINT fk_second_factors_user_id REFERENCES users ON DELETE CASCADE,
            sealed_secret bytea NOT NULL,
            created_at timestamptz NOT NULL,
            confirmed_at timestamptz,
            last_step bigint NOT NULL,
            recovery_digests bytea[] NOT NULL
        )
    """)
