"""Invitations to workspaces, and when a key was last refused."""

from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    """Create the table; add the column, which is empty everywhere at first."""
    op.execute("""
        CREATE TABLE invitations (
            workspace_id uuid NOT NULL CONSTRAINT fk_invitations_workspace_id
                REFERENCES workspaces (id) ON DELETE CASCADE,
            id uuid NOT NULL,
            digest bytea NOT NULL,
            email text NOT NULL,
            role text NOT NULL CONSTRAINT ck_invitations_role CHECK (role IN ('owner', 'admin', 'member')),
            created_by uuid NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            accepted_at timestamptz,
            revoked_at timestamptz,
            CONSTRAINT pk_invitations PRIMARY KEY (workspace_id, id),
            CONSTRAINT uq_invitations_workspace_id_digest UNIQUE (workspace_id, digest)
        )
    """)
    op.execute("CREATE INDEX ix_invitations_expires_at ON invitations (expires_at)")
    op.execute("ALTER TABLE keys ADD COLUMN refused_at timestamptz")
