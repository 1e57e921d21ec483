"""HTTP request evidence, and its counts by day."""

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE evidence_events (
            environment_id uuid NOT NULL,
            digest bytea NOT NULL,
            source_digest bytea NOT NULL,
            source_kind text NOT NULL CONSTRAINT ck_evidence_events_source_kind CHECK
                (source_kind IN ('cdn_log', 'edge_worker', 'load_balancer_log', 'server_log', 'application')),
            source_provider text NOT NULL,
            observed_at timestamptz NOT NULL,
            method text NOT NULL CONSTRAINT ck_evidence_events_method CHECK (method IN ('GET', 'HEAD')),
            response_status smallint NOT NULL,
            agent_token text,
            actor_provider text,
            fetch_class text,
            network_method text,
            referrer_host text,
            referral_provider text,
            CONSTRAINT pk_evidence_events PRIMARY KEY (environment_id, digest)
        );
        CREATE INDEX ix_evidence_events_observed ON evidence_events (environment_id, observed_at);
        -- Rows come and go here all the time; a share of the table is no measure of when to clean up.
        CREATE TABLE evidence_changes (
            environment_id uuid NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            day_on date NOT NULL,
            source_kind text NOT NULL,
            source_provider text NOT NULL,
            actor_provider text NOT NULL,
            fetch_class text NOT NULL,
            network_method text NOT NULL,
            referral_provider text NOT NULL,
            events integer NOT NULL,
            CONSTRAINT pk_evidence_changes PRIMARY KEY (environment_id, id)
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
        CREATE TABLE evidence_days (
            environment_id uuid NOT NULL,
            day_on date NOT NULL,
            source_kind text NOT NULL,
            source_provider text NOT NULL,
            actor_provider text NOT NULL,
            fetch_class text NOT NULL,
            network_method text NOT NULL,
            referral_provider text NOT NULL,
            events integer NOT NULL,
            CONSTRAINT pk_evidence_days PRIMARY KEY (environment_id, day_on, source_kind, source_provider,
                actor_provider, fetch_class, network_method, referral_provider)
        );
    """)
