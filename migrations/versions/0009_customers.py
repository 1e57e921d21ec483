"""Customers, their references and their choices."""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the tables."""
    op.execute("""
        CREATE TABLE customers (
            product_id uuid NOT NULL,
            id uuid NOT NULL,
            created_at timestamptz NOT NULL,
            last_seen_at timestamptz NOT NULL,
            CONSTRAINT pk_customers PRIMARY KEY (product_id, id)
        );
        CREATE INDEX ix_customers_last_seen ON customers (product_id, last_seen_at);
        CREATE TABLE customer_references (
            product_id uuid NOT NULL,
            kind text NOT NULL CONSTRAINT ck_customer_references_kind CHECK (kind IN ('account', 'user', 'anonymous')),
            digest bytea NOT NULL,
            scope bytea NOT NULL,
            customer_id uuid NOT NULL,
            created_at timestamptz NOT NULL,
            linked_at timestamptz,
            CONSTRAINT pk_customer_references PRIMARY KEY (product_id, kind, digest, scope)
        );
        CREATE INDEX ix_customer_references_customer ON customer_references (product_id, customer_id);
        CREATE TABLE customer_choices (
            product_id uuid NOT NULL,
            customer_id uuid NOT NULL,
            purpose text NOT NULL CONSTRAINT ck_customer_choices_purpose
                CHECK (purpose IN ('product_personalization', 'targeted_advertising')),
            decision text NOT NULL CONSTRAINT ck_customer_choices_decision
                CHECK (decision IN ('approved', 'declined')),
            decided_at timestamptz NOT NULL,
            CONSTRAINT pk_customer_choices PRIMARY KEY (product_id, customer_id, purpose)
        );
    """)
