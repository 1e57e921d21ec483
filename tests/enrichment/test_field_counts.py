"""How often fields are asked for and answered, before and after their requests have left."""

from datetime import timedelta

import pytest

from app.core.database import transaction
from app.enrichment.queries import FieldUse, list_field_uses
from app.products import service as products
from app.retention.service import expire_enrichment, expire_feedback
from tests.context_api import ADVERTISING, PERSONALIZATION, Clock, ContextApi, item


@pytest.fixture
def field_api(context_api: ContextApi) -> ContextApi:
    """A product with two fields of its own."""
    context_api.put_field("trip.pace")
    context_api.put_field("trip.mood", targetedAdvertisingSafe=True)
    return context_api


def uses(context_api: ContextApi, clock: Clock, days: int = 1) -> list[FieldUse]:
    with transaction():
        return list_field_uses(context_api.company.environment_id, clock.now.date() - timedelta(days=days - 1))


PACE = item("trip.pace", "slow")

EXPECTED = [
    FieldUse("trip.mood", PERSONALIZATION, 3, 0),
    FieldUse("trip.mood", ADVERTISING, 1, 0),
    FieldUse("trip.pace", PERSONALIZATION, 3, 1),
]


def use_fields(context_api: ContextApi) -> None:
    context_api.answer(context_api.ask().json, PACE)
    context_api.answer(context_api.ask().json, status="declined")
    context_api.ask()
    context_api.ask(purpose=ADVERTISING)


def test_open_requests_are_counted(field_api: ContextApi, clock: Clock) -> None:
    use_fields(field_api)
    assert uses(field_api, clock) == EXPECTED


def test_counts_stay_when_requests_leave(field_api: ContextApi, clock: Clock) -> None:
    clock.now = clock.now.replace(hour=8)
    use_fields(field_api)
    clock.advance(hours=3)
    assert expire_enrichment().row_count > 0
    assert uses(field_api, clock) == EXPECTED
    expire_enrichment()
    assert uses(field_api, clock) == EXPECTED
    use_fields(field_api)
    doubled = [FieldUse(use.key, use.purpose, 2 * use.asked, 2 * use.answered) for use in EXPECTED]
    assert uses(field_api, clock) == doubled
    clock.advance(hours=3)
    expire_enrichment()
    assert uses(field_api, clock) == doubled


def test_an_answer_that_was_taken_back_is_not_counted(field_api: ContextApi, clock: Clock) -> None:
    request = field_api.ask(userRef="u1").json
    field_api.answer(request, PACE)
    field_api.choose(request, "declined")
    assert {(use.key, use.answered) for use in uses(field_api, clock)} == {("trip.mood", 0), ("trip.pace", 0)}


def test_only_the_days_are_counted_that_are_asked_for(field_api: ContextApi, clock: Clock) -> None:
    field_api.ask()
    clock.advance(days=2)
    assert [uses(field_api, clock, days) == [] for days in (1, 2, 3)] == [True, True, False]
    expire_enrichment()
    assert [uses(field_api, clock, days) == [] for days in (1, 2, 3)] == [True, True, False]


def test_counts_leave_with_the_retention(field_api: ContextApi, clock: Clock) -> None:
    field_api.ask()
    with transaction():
        products.set_environment(field_api.company.environment_id, retention_days=1)
    clock.advance(days=3)
    expire_enrichment()
    assert uses(field_api, clock, days=30)
    expire_feedback()
    assert uses(field_api, clock, days=30) == []
