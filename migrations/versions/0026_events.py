"""The outbox of events, and which of them an environment has subscribed to."""

from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Create the tables."""
    types = "('review.created', 'report.created', 'interaction.confirmed', 'key.revoked', 'retention.purged')"
    op.execute(f"""
        CREATE TABLE events (
            environment_id uuid NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            consumer text NOT NULL CONSTRAINT ck_events_consumer CHECK (consumer IN ('webhooks', 'evaluations')),
            type text NOT NULL CONSTRAINT ck_events_type CHECK (type IN {types}),
            interaction_id uuid,
            details jsonb,
            created_at timestamptz NOT NULL,
            leased_until timestamptz,
            CONSTRAINT pk_events PRIMARY KEY (environment_id, id)
        )
    """)
    op.execute("CREATE INDEX ix_events_consumer ON events (consumer, environment_id, id)")
    op.execute(f"""
        CREATE TABLE event_subscriptions (
            environment_id uuid NOT NULL,
            type text NOT NULL CONSTRAINT ck_event_subscriptions_type CHECK (type IN {types}),
            CONSTRAINT pk_event_subscriptions PRIMARY KEY (environment_id, type)
        )
    """)
