"""Keep the indexes by time of requests out of the look-up by interaction.

Until a table is analyzed for the first time, the planner takes any index that begins with the environment for as good
as the primary key, and a prepared statement keeps that choice: it read every request of the environment. A partial
index is for statements alone that name its column.
"""

from migrations.online import create_index

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    """Build both anew beside the traffic; while one is missing, retention reads the table itself."""
    create_index(
        "ix_enrichment_requests_expires",
        "enrichment_requests (environment_id, expires_at) WHERE expires_at IS NOT NULL",
    )
    create_index("ix_closed_requests_closed", "closed_requests (environment_id, closed_at) WHERE closed_at IS NOT NULL")
