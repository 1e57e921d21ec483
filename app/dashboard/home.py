"""The home page: did it work for agents, and what should be fixed next?"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from app.accounts.sessions import OwnWorkspace
from app.core.database.pages import Criteria
from app.dashboard.action_items import has_active_key, list_action_items
from app.dashboard.days import counts_of, kept_days, outcome_chart, shown_days, success_share
from app.dashboard.figures import Difference, Share
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope, current_workspaces
from app.interactions.queries import find_newest_received_at
from app.outcomes.queries import REVIEW_PAGES, ReviewItem, list_newest_unsuccessful
from app.products import service as products
from app.products.queries import filter_workspaces_in_use
from app.products.rules import KeyKind
from app.summaries import queries as summaries
from app.summaries.days import Counts, DayCounts, DayRange, list_days, list_operation_days
from app.summaries.queries import OperationCriteria, OperationItem
from app.summaries.rules import Sort

home = PageBlueprint("home", has_scope=True)

REVIEWS_SHOWN = 5
OPERATIONS_SHOWN = 5
EXPIRY_WINDOW_DAYS = 7
"""What passes the retention within these days is announced."""


@dataclass(frozen=True, slots=True)
class FailingOperation:
    """An operation with the reviews that say that it failed, or did in part."""

    item: OperationItem
    last_failure_on: date | None
    newest_review: ReviewItem | None
    """The newest review that says failure, or else partial; None where it is not among the newest ones."""

    @property
    def share(self) -> Share:
        """The share of reviews that say failure or partial."""
        return Share(self.item.failure + self.item.partial, self.item.reviews)


@home.page("/", "home/page.html")
def show_home(scope: Scope) -> Page:
    """Show how the environment does, or the steps to its first review."""
    keys = products.list_keys(scope.environment.id)
    newest_received_at = find_newest_received_at(scope.environment.id)
    if newest_received_at is None:
        has_key = has_active_key(keys, KeyKind.PRODUCT)
        return Page({"newest_received_at": None, "has_key": has_key, "example": _find_workspace_in_use(scope)})
    figures = _figures(scope)
    action_items = list_action_items(scope, keys, figures["counts"])
    return Page({"newest_received_at": newest_received_at, "action_items": action_items, **figures})


def _find_workspace_in_use(scope: Scope) -> OwnWorkspace | None:
    """Return another workspace of the user that has something to look at: of the demo account, the sample data."""
    others = [workspace for workspace in current_workspaces() if workspace.id != scope.login.workspace_id]
    ids_in_use = filter_workspaces_in_use([workspace.id for workspace in others]) if others else ()
    return next((workspace for workspace in others if workspace.id in ids_in_use), None)


def _figures(scope: Scope) -> dict[str, Any]:
    days, kept = shown_days(scope), kept_days(scope)
    days_before = DayRange(days.first_on - timedelta(days=scope.days), days.first_on - timedelta(days=1))
    expiring_days = DayRange(kept.first_on, kept.first_on + timedelta(days=EXPIRY_WINDOW_DAYS - 1))
    # One statement reads both periods; what leaves soon is days away from them, where much is kept.
    rows = list_days(scope.environment.id, DayRange(max(days_before.first_on, kept.first_on), days.last_on))
    counts, counts_before = counts_of(days, rows), counts_of(days_before, rows)
    share, share_before = success_share(counts), success_share(counts_before)
    return {
        "counts": counts,
        "share": share,
        "counts_before": counts_before,
        "share_before": share_before,
        # A period that is kept in part only is no other period.
        "change": Difference(share, share_before) if days_before.first_on >= kept.first_on else None,
        "today": counts_of(DayRange(days.last_on, days.last_on), rows),
        "expiring_counts": _count_expiring(scope, expiring_days),
        "expiry_window_days": EXPIRY_WINDOW_DAYS,
        "outcome_chart": outcome_chart(days, _within(rows, days)),
        "failing_operations": _failing_operations(scope),
        "reviews": REVIEW_PAGES.list(Criteria(scope.environment.id, since=scope.since), REVIEWS_SHOWN).rows,
    }


def _within(rows: list[DayCounts], days: DayRange) -> list[DayCounts]:
    return [row for row in rows if row.day_on >= days.first_on]


def _count_expiring(scope: Scope, days: DayRange) -> Counts:
    return counts_of(days, list_days(scope.environment.id, days))


def _failing_operations(scope: Scope) -> list[FailingOperation]:
    """Return the operations that most certainly fail, if any review says so."""
    listed = summaries.list_operations(
        scope.environment.id, OperationCriteria(scope.days, Sort.WORST), OPERATIONS_SHOWN
    )
    items = [item for item in listed if item.failure or item.partial]
    names = [item.operation for item in items]
    days = list_operation_days(scope.environment.id, shown_days(scope), names)
    # Oldest first, so the last one stays.
    last_failures = {row.operation: row.day_on for row in days if row.failure}
    reviews = list_newest_unsuccessful(scope.environment.id, scope.since, names)
    rows = [FailingOperation(item, last_failures.get(item.operation), reviews.get(item.operation)) for item in items]
    # By the figure that is shown, in which a partial success is no success.
    return sorted(rows, key=lambda row: row.share.interval[0], reverse=True)
