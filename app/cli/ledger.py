"""`flask ledger`: show what became of events, and what was lost before it arrived."""

import uuid
from datetime import UTC

import click

from app.cli.output import Row, Since, command, read_instant
from app.ledger.queries import LedgerRow, list_rows
from app.products.service import get_environment

group = click.Group("ledger")

DEFAULT_SINCE = "30d"


@command(group, "show")
@click.option("--environment", "environment_id", type=click.UUID, required=True)
@click.option(
    "--since",
    type=Since(),
    default=DEFAULT_SINCE,
    show_default=True,
    help="From the UTC day of a date, an instant or 7d.",
)
def show(environment_id: uuid.UUID, since: str) -> list[Row]:
    """Show what became of events by day, SDK and version, the newest day first; no event is counted twice."""
    get_environment(environment_id)
    instant = read_instant(since)
    assert instant is not None
    return [_row(row) for row in list_rows(environment_id, instant.astimezone(UTC).date())]


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
