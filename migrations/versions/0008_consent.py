"""What customers decided, and what stands."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE consent_subjects (
            environment_id uuid NOT NULL
                CONSTRAINT fk_consent_subjects_environment_id REFERENCES environments ON DELETE CASCADE,
            subject text NOT NULL,
            decision text NOT NULL CONSTRAINT ck_consent_subjects_decision CHECK (decision IN ('approved', 'declined')),
            revision integer NOT NULL,
            decided_at timestamptz NOT NULL,
            CONSTRAINT pk_consent_subjects PRIMARY KEY (environment_id, subject)
        );
        CREATE TABLE consent_decisions (
            environment_id uuid NOT NULL
                CONSTRAINT fk_consent_decisions_environment_id REFERENCES environments ON DELETE CASCADE,
            interaction_id uuid NOT NULL,
            subject text,
            decision text NOT NULL
                CONSTRAINT ck_consent_decisions_decision CHECK (decision IN ('approved', 'declined')),
            revision integer,
            question text NOT NULL,
            key_id text NOT NULL,
            decided_at timestamptz NOT NULL,
            CONSTRAINT pk_consent_decisions PRIMARY KEY (environment_id, interaction_id)
        );
    """)
