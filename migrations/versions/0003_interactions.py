"""Interactions, sessions, and the outbox rows and day marks that their jobs work from."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE interactions (
            environment_id uuid NOT NULL,
            id uuid NOT NULL,
            received_at timestamptz NOT NULL,
            surface text NOT NULL CONSTRAINT ck_interactions_surface
                CHECK (surface IN ('http_json', 'http_html', 'http_headers', 'mcp', 'unknown')),
            operation text NOT NULL,
            classification text NOT NULL
                CONSTRAINT ck_interactions_classification CHECK (classification IN ('unclassified', 'confirmed')),
            confirmed_by text
                CONSTRAINT ck_interactions_confirmed_by CHECK (confirmed_by IN ('mcp', 'review', 'report', 'answer')),
            confirmed_at timestamptz,
            occurred_at timestamptz,
            status_code smallint,
            duration_ms double precision,
            customer_ref text,
            runtime_hint text,
            runtime_hint_source text,
            session_ref text,
            session_source text,
            CONSTRAINT pk_interactions PRIMARY KEY (environment_id, id)
        ) WITH (fillfactor = 90);
        CREATE INDEX ix_interactions_received ON interactions (environment_id, received_at);
        CREATE TABLE sessions (
            environment_id uuid NOT NULL,
            source text NOT NULL,
            ref text NOT NULL,
            customer_ref text NOT NULL,
            first_seen_at timestamptz NOT NULL,
            last_seen_at timestamptz NOT NULL,
            CONSTRAINT pk_sessions PRIMARY KEY (environment_id, source, ref, customer_ref)
        );
        CREATE INDEX ix_sessions_last_seen ON sessions (environment_id, last_seen_at);
        -- Rows come and go here all the time; a share of the table is no measure of when to clean up.
        CREATE TABLE promotions (
            environment_id uuid NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            interaction_id uuid NOT NULL,
            method text NOT NULL,
            noted_at timestamptz NOT NULL,
            CONSTRAINT pk_promotions PRIMARY KEY (environment_id, id)
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
        CREATE TABLE day_marks (
            environment_id uuid NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            day_on date NOT NULL,
            CONSTRAINT pk_day_marks PRIMARY KEY (environment_id, id)
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
    """)
