"""Who a user is at an OpenID provider."""

from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Create the table."""
    op.execute("""
        CREATE TABLE user_identities (
            issuer text NOT NULL,
            subject text NOT NULL,
            user_id uuid NOT NULL CONSTRAINT fk_user_identities_user_id REFERENCES users ON DELETE CASCADE,
            created_at timestamptz NOT NULL,
            CONSTRAINT pk_user_identities PRIMARY KEY (issuer, subject),
            CONSTRAINT uq_user_identities_user_id_issuer UNIQUE (user_id, issuer)
        )
    """)
