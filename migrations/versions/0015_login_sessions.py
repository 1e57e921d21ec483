"""Who is signed in."""

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Create the table."""
    op.execute("""
        CREATE TABLE login_sessions (
            id uuid CONSTRAINT pk_login_sessions PRIMARY KEY,
            digest bytea NOT NULL CONSTRAINT uq_login_sessions_digest UNIQUE,
            user_id uuid NOT NULL,
            workspace_id uuid NOT NULL,
            created_at timestamptz NOT NULL,
            last_seen_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            CONSTRAINT fk_login_sessions_workspace_id_user_id
                FOREIGN KEY (workspace_id, user_id) REFERENCES memberships ON DELETE CASCADE
        );
        CREATE INDEX ix_login_sessions_user_id ON login_sessions (user_id);
        CREATE INDEX ix_login_sessions_expires_at ON login_sessions (expires_at);
    """)
