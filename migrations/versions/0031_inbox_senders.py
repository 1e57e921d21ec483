"""What a waiting batch says of its sender and of losses, for the ledger."""

from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    """Add the columns; they are null in a batch of before, or of a process of before that still runs."""
    op.execute("""
        ALTER TABLE telemetry_inbox
            ADD COLUMN sdk text, ADD COLUMN sdk_version text, ADD COLUMN batch_id uuid, ADD COLUMN loss_report text
    """)
