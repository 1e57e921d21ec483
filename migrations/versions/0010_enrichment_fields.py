"""A product's own fields of customer context."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the table."""
    op.execute("""
        CREATE TABLE enrichment_fields (
            product_id uuid NOT NULL CONSTRAINT fk_enrichment_fields_product_id REFERENCES products ON DELETE CASCADE,
            key text NOT NULL,
            label text NOT NULL,
            type text NOT NULL,
            allowed_values text[] NOT NULL,
            targeted_advertising_safe boolean NOT NULL,
            operations text[],
            enabled boolean NOT NULL,
            created_at timestamptz NOT NULL,
            updated_at timestamptz NOT NULL,
            CONSTRAINT pk_enrichment_fields PRIMARY KEY (product_id, key)
        );
    """)
