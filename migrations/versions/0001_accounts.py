"""Workspaces, users and the audit log."""

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE workspaces (
            id uuid CONSTRAINT pk_workspaces PRIMARY KEY,
            name text NOT NULL,
            created_at timestamptz NOT NULL
        );
        CREATE TABLE users (
            id uuid CONSTRAINT pk_users PRIMARY KEY,
            email text NOT NULL CONSTRAINT uq_users_email UNIQUE,
            password_hash text NOT NULL,
            created_at timestamptz NOT NULL
        );
        CREATE TABLE memberships (
            workspace_id uuid NOT NULL CONSTRAINT fk_memberships_workspace_id REFERENCES workspaces ON DELETE CASCADE,
            user_id uuid NOT NULL CONSTRAINT fk_memberships_user_id REFERENCES users ON DELETE CASCADE,
            role text NOT NULL CONSTRAINT ck_memberships_role CHECK (role IN ('owner', 'admin', 'member')),
            created_at timestamptz NOT NULL,
            CONSTRAINT pk_memberships PRIMARY KEY (workspace_id, user_id)
        );
        CREATE TABLE audit_entries (
            workspace_id uuid NOT NULL CONSTRAINT fk_audit_entries_workspace_id REFERENCES workspaces ON DELETE CASCADE,
            id bigint GENERATED ALWAYS AS IDENTITY,
            at timestamptz NOT NULL,
            actor text NOT NULL,
            deed text NOT NULL,
            subject text NOT NULL,
            details jsonb NOT NULL,
            CONSTRAINT pk_audit_entries PRIMARY KEY (workspace_id, id)
        );
    """)
