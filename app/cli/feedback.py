"""`flask review` and `flask report`: list reviews and reports, or follow them as they arrive."""

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from time import sleep

import click

from app.cli.follower import Follower, ReadPage
from app.cli.output import Row, printable
from app.core.database import transaction
from app.core.errors import ApiError
from app.interactions.feed import Feed, FeedCriteria, FeedItem
from app.outcomes.queries import REVIEWS
from app.outcomes.rules import OUTCOMES
from app.products.service import list_environment_ids
from app.reports.queries import REPORTS
from app.reports.rules import IMPACTS

review = click.Group("review")
report = click.Group("report")

DEFAULT_LIMIT = 50
MAX_LIMIT = 1_000
POLL_INTERVAL_S = 1.0


def _list_command(group: click.Group, feed: Feed, outcomes: Sequence[str], help_text: str) -> None:
    """Add the command `list` of a feed to its group."""

    @group.command("list", help=help_text)
    @click.option("--environment", "environment_id", type=click.UUID, help="Of one environment; else of all.")
    @click.option("--outcome", type=click.Choice(outcomes))
    @click.option("--operation", help="Such as /orders/:id.")
    @click.option("--limit", type=click.IntRange(1, MAX_LIMIT), default=DEFAULT_LIMIT, show_default=True)
    @click.option("--follow", is_flag=True, help="Go on printing what arrives, the newest last, until Ctrl-C.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON; with --follow one object a line.")
    def run(
        environment_id: uuid.UUID | None,
        outcome: str | None,
        operation: str | None,
        limit: int,
        **switches: bool,
    ) -> None:
        def read_page(list_items: Callable[[FeedCriteria], list[FeedItem]]) -> list[FeedItem]:
            with transaction():
                return list_items(FeedCriteria(list_environment_ids(environment_id), outcome, operation))

        try:
            _print(feed, read_page, limit, is_following=switches["follow"], as_json=switches["as_json"])
        except ApiError as error:
            raise click.ClickException(str(error)) from None
        except KeyboardInterrupt:
            return


def _print(feed: Feed, read_page: ReadPage, limit: int, *, is_following: bool, as_json: bool) -> None:
    if is_following:
        for item in follow(feed, read_page, limit):
            click.echo(json.dumps(_as_row(item)) if as_json else _as_line(item))
        return
    items = read_page(partial(feed.list_newest, limit=limit))
    if as_json:
        click.echo(json.dumps([_as_row(item) for item in items], indent=2))
    else:
        click.echo("\n".join(map(_as_line, items)) or "none")


def follow(feed: Feed, read_page: ReadPage, limit: int) -> Iterator[FeedItem]:
    """Yield the newest items, the oldest of them first, and then each item that becomes visible."""
    follower = Follower(feed, read_page)
    yield from follower.start(limit)
    while True:
        yield from follower.poll()
        sleep(POLL_INTERVAL_S)


def _as_row(item: FeedItem) -> Row:
    return {
        "interactionId": str(item.interaction_id),
        "environmentId": str(item.environment_id),
        "outcome": item.outcome,
        "note": item.note,
        "operation": item.operation,
        "createdAt": _as_time(item.created_at),
    }


def _as_line(item: FeedItem) -> str:
    """Return an item as one printable line; its texts are untrusted."""
    texts = (item.outcome or "-", item.operation, item.note)
    return f"{_as_time(item.created_at)}  {item.interaction_id}  {'  '.join(map(printable, texts))}"


def _as_time(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


_list_command(review, REVIEWS, OUTCOMES, "List reviews, newest first.")
_list_command(
    report,
    REPORTS,
    IMPACTS,
    "List reports, newest first; outcome is what the report says of its impact, note its summary.",
)
