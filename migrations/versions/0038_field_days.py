"""Count how often fields of customer context are asked for and answered, when their requests leave."""

from alembic import op

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    """Create the table; requests that left before were not counted."""
    op.execute("""
        CREATE TABLE field_days (
            environment_id uuid NOT NULL,
            day_on date NOT NULL,
            key text NOT NULL,
            purpose text NOT NULL,
            asked integer NOT NULL,
            answered integer NOT NULL,
            CONSTRAINT pk_field_days PRIMARY KEY (environment_id, day_on, key, purpose),
            CONSTRAINT ck_field_days_purpose CHECK (purpose IN ('product_personalization', 'targeted_advertising'))
        );
    """)
