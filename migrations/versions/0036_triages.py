"""Triage of feedback."""

from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE triages (
            environment_id uuid NOT NULL,
            feedback_id uuid NOT NULL,
            kind text NOT NULL CONSTRAINT ck_triages_kind CHECK (kind IN ('review', 'report')),
            interaction_id uuid NOT NULL,
            feedback_at timestamptz NOT NULL,
            state text NOT NULL CONSTRAINT ck_triages_state
                CHECK (state IN ('new', 'investigating', 'resolved', 'wont_act')),
            assignee_id uuid,
            changed_at timestamptz NOT NULL,
            CONSTRAINT pk_triages PRIMARY KEY (environment_id, feedback_id)
        );
        CREATE INDEX ix_triages_state ON triages (environment_id, state, feedback_at);
        CREATE INDEX ix_triages_feedback ON triages (environment_id, feedback_at);
        CREATE TABLE triage_comments (
            environment_id uuid NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            feedback_id uuid NOT NULL,
            feedback_at timestamptz NOT NULL,
            author_id uuid NOT NULL,
            text text NOT NULL,
            created_at timestamptz NOT NULL,
            CONSTRAINT pk_triage_comments PRIMARY KEY (environment_id, id)
        );
        CREATE INDEX ix_triage_comments_feedback_id ON triage_comments (environment_id, feedback_id, id);
        CREATE INDEX ix_triage_comments_feedback ON triage_comments (environment_id, feedback_at);
    """)
