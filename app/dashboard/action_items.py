"""What needs a decision: the list of the home page, each entry with a link to the page that settles it."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from app.core import clock
from app.dashboard.delivery import counts_text, host_of
from app.dashboard.figures import thousands
from app.dashboard.scope import Scope, scoped_url
from app.ledger.queries import LedgerRow, list_rows
from app.outcomes.queries import find_newest_review_at
from app.products.models import Key
from app.products.rules import EXPIRING_WITHIN, KeyKind, Mode
from app.summaries.days import Counts
from app.triage.queries import NewCount, count_new
from app.triage.rules import NEW, REPORT, REVIEW
from app.webhooks.service import list_endpoints

LEDGER_DAYS = 2
"""Today and yesterday: what was lost or refused before is past mending."""

_NEW_FEEDBACK = {
    REVIEW: ("failure", {"outcome": "failure"}, "These reviews say failure, and nobody has said what becomes of them."),
    REPORT: ("report", {"kind": REPORT}, "Nobody has said what becomes of these reports."),
}
"""The noun, the filters and the sentence of feedback that is new, by its kind."""


class ActionItem(NamedTuple):
    """Something that a person has to decide or mend."""

    title: str
    sentence: str
    url: str


def list_action_items(scope: Scope, keys: list[Key], counts: Counts) -> list[ActionItem]:
    """Return what waits for a decision in the environment, whose keys and counts of the shown days these are."""
    return [
        *_mode(scope),
        *_keys(keys),
        *_reviews(scope, counts),
        *_telemetry(list_rows(scope.environment.id, _ledger_since(scope))),
        *_webhooks(scope),
        *_new_feedback(count_new(scope.environment.id, scope.since)),
    ]


def has_active_key(keys: list[Key], kind: KeyKind) -> bool:
    """Tell whether one of these keys is of a kind, and accepted."""
    return any(key.kind == kind and _is_active(key) for key in keys)


def _mode(scope: Scope) -> Iterator[ActionItem]:
    if scope.environment.mode == Mode.OFF:
        yield ActionItem(
            "No feedback is taken",
            "The environment’s mode is off: agents are told not to send any.",
            scoped_url("settings.show_settings"),
        )


def _keys(keys: list[Key]) -> Iterator[ActionItem]:
    url, now = scoped_url("keys.list_keys"), clock.now()
    if not has_active_key(keys, KeyKind.PRODUCT):
        yield ActionItem(
            "No product key is active", "Without one, telemetry is refused and agents cannot send feedback.", url
        )
    replaced_ids = {key.replaces_id for key in keys if _is_active(key)}
    for key in keys:
        is_ending = _is_active(key) and key.expires_at is not None and key.expires_at - now <= EXPIRING_WITHIN
        if is_ending and key.expires_at and key.id not in replaced_ids:
            sentence = f"It ends on {key.expires_at:%-d %b %Y}, and nothing replaces it. Rotate it before."
            yield ActionItem(f"A {key.kind} key expires", sentence, url)


def _is_active(key: Key) -> bool:
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > clock.now())


def _ledger_since(scope: Scope) -> date:
    return scope.last_on - timedelta(days=LEDGER_DAYS - 1)


def _reviews(scope: Scope, counts: Counts) -> Iterator[ActionItem]:
    if counts.interactions and not counts.reviews and find_newest_review_at(scope.environment.id) is None:
        number = f"{thousands(counts.interactions)} interaction{'' if counts.interactions == 1 else 's'}"
        url = scoped_url("set_up.show_guide")
        yield ActionItem(
            f"{number}, no review yet", "Telemetry arrives. Set-up says what is missing for a review.", url
        )


def _telemetry(rows: list[LedgerRow]) -> Iterator[ActionItem]:
    url = scoped_url("set_up.show_guide", _anchor="delivery")
    refused, lost = (_sums(counts) for counts in ([row.refused for row in rows], [row.lost for row in rows]))
    if refused:
        yield ActionItem("Events were refused", f"Since yesterday: {counts_text(refused)}.", url)
    if lost:
        yield ActionItem("Events were lost before they were sent", f"Since yesterday: {counts_text(lost)}.", url)


def _sums(counts: list[dict[str, int]]) -> dict[str, int]:
    names = sorted({name for entry in counts for name in entry})
    return {name: sum(entry.get(name, 0) for entry in counts) for name in names}


def _webhooks(scope: Scope) -> Iterator[ActionItem]:
    for endpoint in list_endpoints(scope.environment.id):
        if endpoint.disabled_at is not None:
            sentence = (
                f"{host_of(endpoint)} gets none since {endpoint.disabled_at:%-d %b %Y}: {endpoint.disabled_reason}."
            )
            yield ActionItem("A webhook is disabled", sentence, scoped_url("set_up.show_guide", _anchor="webhooks"))


def _new_feedback(counts: list[NewCount]) -> Iterator[ActionItem]:
    for kind, total, is_complete in counts:
        if total:
            noun, filters, sentence = _NEW_FEEDBACK[kind]
            words = f"{thousands(total)} {noun} is" if total == 1 else f"{thousands(total)} {noun}s are"
            title = f"{'' if is_complete else 'At least '}{words} not triaged"
            yield ActionItem(title, sentence, scoped_url("feedback.list_feedback", **filters, triage=NEW))
