"""Indexes by which a customer's newest retrievals and decisions are found, in the place of those on the customer."""

from alembic import op

from migrations.online import create_index

revision = "0039"
down_revision = "0038"

REPLACED_INDEXES = ("ix_context_retrievals_customer", "ix_personalization_decisions_customer")
"""What the new ones begin with, so that the release before is served as well."""


def upgrade() -> None:
    """Build the indexes beside the traffic, then drop the old ones; a run that ends in between repeats it."""
    create_index("ix_context_retrievals_customer_created", "context_retrievals (product_id, customer_id, created_at)")
    create_index(
        "ix_personalization_decisions_customer_created",
        "personalization_decisions (product_id, customer_id, created_at)",
    )
    with op.get_context().autocommit_block():
        for name in REPLACED_INDEXES:
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
