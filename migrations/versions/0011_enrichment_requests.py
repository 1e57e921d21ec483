"""Enrichment requests, and the ids of the interactions whose request has been removed."""

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE enrichment_requests (
            environment_id uuid NOT NULL,
            interaction_id uuid NOT NULL,
            id uuid NOT NULL,
            product_id uuid NOT NULL,
            customer_id uuid,
            identity_level text NOT NULL CONSTRAINT ck_enrichment_requests_identity_level
                CHECK (identity_level IN ('verified', 'pseudonymous', 'ephemeral')),
            key_id text NOT NULL,
            fingerprint bytea NOT NULL,
            operation text NOT NULL,
            surface text NOT NULL
                CONSTRAINT ck_enrichment_requests_surface CHECK (surface IN ('http_json', 'html', 'mcp')),
            purpose text NOT NULL CONSTRAINT ck_enrichment_requests_purpose
                CHECK (purpose IN ('product_personalization', 'targeted_advertising')),
            remember boolean NOT NULL,
            state text NOT NULL CONSTRAINT ck_enrichment_requests_state
                CHECK (state IN ('answer_ready', 'declined', 'answered', 'no_relevant_context')),
            catalog_version text NOT NULL,
            catalog_hash text NOT NULL,
            catalog jsonb NOT NULL,
            withheld_keys text[] NOT NULL,
            status_code smallint,
            duration_ms double precision,
            runtime_hint text,
            observation jsonb,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            approved_at timestamptz,
            answered_as text CONSTRAINT ck_enrichment_requests_answered_as
                CHECK (answered_as IN ('answered', 'declined', 'no_relevant_context')),
            answer_fingerprint bytea,
            receipt jsonb,
            CONSTRAINT pk_enrichment_requests PRIMARY KEY (environment_id, interaction_id)
        );
        CREATE INDEX ix_enrichment_requests_id ON enrichment_requests (id);
        CREATE INDEX ix_enrichment_requests_customer ON enrichment_requests (product_id, customer_id);
        CREATE INDEX ix_enrichment_requests_expires ON enrichment_requests (environment_id, expires_at);
        CREATE TABLE closed_requests (
            environment_id uuid NOT NULL,
            interaction_id uuid NOT NULL,
            closed_at timestamptz NOT NULL,
            CONSTRAINT pk_closed_requests PRIMARY KEY (environment_id, interaction_id)
        );
        CREATE INDEX ix_closed_requests_closed ON closed_requests (environment_id, closed_at);
    """)
