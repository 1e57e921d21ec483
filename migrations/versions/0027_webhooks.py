"""Endpoints of webhooks, and the log of their deliveries."""

from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE webhook_endpoints (
            environment_id uuid NOT NULL,
            id uuid NOT NULL,
            url text NOT NULL,
            event_types text[] NOT NULL,
            sealed_secret bytea NOT NULL,
            sealed_old_secret bytea,
            old_secret_expires_at timestamptz,
            created_at timestamptz NOT NULL,
            failure_count integer NOT NULL DEFAULT 0,
            failing_since timestamptz,
            disabled_at timestamptz,
            disabled_reason text
                CONSTRAINT ck_webhook_endpoints_disabled_reason CHECK (disabled_reason IN ('gone', 'failing')),
            CONSTRAINT pk_webhook_endpoints PRIMARY KEY (environment_id, id)
        )
    """)
    op.execute("""
        CREATE TABLE webhook_deliveries (
            environment_id uuid NOT NULL,
            id uuid NOT NULL,
            endpoint_id uuid NOT NULL,
            message_id uuid NOT NULL,
            type text NOT NULL CONSTRAINT ck_webhook_deliveries_type CHECK (type IN
                ('review.created', 'report.created', 'interaction.confirmed', 'key.revoked', 'retention.purged')),
            interaction_ids uuid[] NOT NULL,
            details jsonb,
            occurred_at timestamptz NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            state text NOT NULL CONSTRAINT ck_webhook_deliveries_state
                CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'dropped')),
            next_attempt_at timestamptz,
            attempts smallint NOT NULL DEFAULT 0,
            attempted_at timestamptz,
            status_code smallint,
            duration_ms integer,
            error text,
            CONSTRAINT pk_webhook_deliveries PRIMARY KEY (environment_id, id)
        )
    """)
    op.execute("CREATE INDEX ix_webhook_deliveries_created ON webhook_deliveries (environment_id, created_at)")
    op.execute("""
        CREATE INDEX ix_webhook_deliveries_due ON webhook_deliveries (environment_id, endpoint_id, next_attempt_at)
        WHERE next_attempt_at IS NOT NULL
    """)
    op.execute("""
        CREATE INDEX ix_webhook_deliveries_expires ON webhook_deliveries (expires_at)
        WHERE next_attempt_at IS NOT NULL
    """)
    op.execute("CREATE INDEX ix_webhook_deliveries_id ON webhook_deliveries (id)")
