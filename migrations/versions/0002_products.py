"""Products, environments and keys."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE products (
            id uuid CONSTRAINT pk_products PRIMARY KEY,
            workspace_id uuid NOT NULL CONSTRAINT fk_products_workspace_id REFERENCES workspaces ON DELETE CASCADE,
            name text NOT NULL,
            created_at timestamptz NOT NULL
        );
        CREATE INDEX ix_products_workspace_id ON products (workspace_id);
        CREATE TABLE environments (
            id uuid CONSTRAINT pk_environments PRIMARY KEY,
            product_id uuid NOT NULL CONSTRAINT fk_environments_product_id REFERENCES products ON DELETE CASCADE,
            name text NOT NULL,
            mode text NOT NULL
                CONSTRAINT ck_environments_mode CHECK (mode IN ('never_ask', 'ask_once', 'ask_always', 'off')),
            retention_days integer NOT NULL
                CONSTRAINT ck_environments_retention_days CHECK (retention_days BETWEEN 1 AND 365),
            evidence_retention_days integer NOT NULL
                CONSTRAINT ck_environments_evidence_retention_days CHECK (evidence_retention_days BETWEEN 1 AND 365),
            created_at timestamptz NOT NULL
        );
        CREATE INDEX ix_environments_product_id ON environments (product_id);
        CREATE TABLE keys (
            id text CONSTRAINT pk_keys PRIMARY KEY,
            environment_id uuid NOT NULL CONSTRAINT fk_keys_environment_id REFERENCES environments ON DELETE CASCADE,
            kind text NOT NULL CONSTRAINT ck_keys_kind CHECK (kind IN ('product', 'company')),
            has_company_right boolean NOT NULL DEFAULT false,
            digest bytea NOT NULL,
            sealed_secret bytea,
            replaces_id text,
            created_at timestamptz NOT NULL,
            expires_at timestamptz,
            revoked_at timestamptz,
            last_used_at timestamptz
        );
        CREATE INDEX ix_keys_environment_id ON keys (environment_id);
    """)
