"""`flask ledger`: show what became of events, and what was lost before it arrived."""

import uuid
from datetime import UTC, timedelta

import click

from app.cli.output import Duration, Row, command
from app.core import clock
from app.ledger.queries import LedgerRow, list_rows

group = click.Group("ledger")

DEFAULT_SINCE = timedelta(days=30)


@command(group, "show")
@click.option("--environment", "environment_id", type=click.UUID, required=True)
@click.option(
    "--since", type=Duration(), default=DEFAULT_SINCE, show_default="30d", help="From the UTC day that was then, as 7d."
)
def show(environment_id: uuid.UUID, since: timedelta) -> list[Row]:
    """Show what became of events by day, SDK and version, the newest day first; no event is counted twice."""
    first_on = (clock.now() - since).astimezone(UTC).date()
    return [_row(row) for row in list_rows(environment_id, first_on)]


def _row(row: LedgerRow) -> Row:
    return {
        "day": row.day_on,
        "source": row.source,
        "sdk": row.sdk,
        "version": row.version,
        "accepted": row.accepted,
        "duplicate": row.duplicate,
        "expired": row.expired,
        "refused": row.refused,
        "lost": row.lost,
    }
