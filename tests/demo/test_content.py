"""What the sample data says, without a database."""

import uuid
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest

from app.catalog.entries import catalog_file
from app.catalog.schemas import NewFieldSchema
from app.catalog.sensitive import find_sensitive
from app.demo import content
from app.demo.feedback import Writer, WrittenReport, WrittenReview
from app.demo.period import DAYS, Ids, Period
from app.demo.traffic import Traffic, Visit
from app.interactions.rules import SURFACES
from app.outcomes.rules import OUTCOMES
from app.outcomes.schemas import OutcomeSchema
from app.reports.rules import KINDS
from app.reports.schemas import ReportSchema
from app.screening.scanner import find_private
from app.triage.rules import MAX_COMMENT_LENGTH, STATES
from config.allowlist import ALLOWLIST, read_allowlist

NOW = datetime(2026, 6, 17, 15, 20, tzinfo=UTC)
WEEK = [NOW + timedelta(days=number) for number in range(7)]
"""So that each incident is once on each day of the week."""
MIN_OBSERVATIONS = 10


@cache
def visits(now: datetime, slug: str, environment: str = "production", workspace: int = 1) -> list[Visit]:
    product = next(product for product in content.products().products if product.slug == slug)
    row = next(row for row in product.environments if row.name == environment)
    return Traffic(Period.before(now), Ids(uuid.UUID(int=workspace)), product, row).visits()


def writer(now: datetime, slug: str) -> Writer:
    return Writer(Period.before(now), Ids(uuid.UUID(int=1)), slug, "production")


@cache
def reviews(now: datetime = NOW) -> list[WrittenReview]:
    slugs = [product.slug for product in content.products().products]
    return [review for slug in slugs for review in writer(now, slug).reviews(visits(now, slug))]


@cache
def reports(now: datetime = NOW) -> list[WrittenReport]:
    slugs = [product.slug for product in content.products().products]
    return [report for slug in slugs for report in writer(now, slug).reports(visits(now, slug))]


def shares(rows: list[WrittenReview]) -> dict[str, float]:
    assert len(rows) >= MIN_OBSERVATIONS
    counts = Counter(row.outcome for row in rows)
    return {outcome: counts[outcome] / len(rows) for outcome in OUTCOMES}


def between(now: datetime, operation: str, begin: float, end: float) -> list[WrittenReview]:
    """Return the reviews of an operation between two moments, in days of the fortnight."""
    start = Period.before(now).start
    return [
        review
        for review in reviews(now)
        if review.visit.operation.name == operation
        and start + timedelta(days=begin) <= review.visit.occurred_at < start + timedelta(days=end)
    ]


def test_two_workspaces_differ_in_ids_alone() -> None:
    first, second = visits(NOW, "shop"), visits(NOW, "shop", workspace=2)
    assert {visit.id for visit in first}.isdisjoint(visit.id for visit in second)
    for one, other in zip(first, second, strict=True):
        assert replace(one, id=other.id) == other


def test_another_day_is_another_fortnight() -> None:
    assert [visit.outcome for visit in visits(NOW, "shop")] != [visit.outcome for visit in visits(WEEK[1], "shop")]


def test_an_hour_later_there_is_more_and_nothing_else() -> None:
    earlier, later = visits(NOW, "docs"), visits(NOW + timedelta(hours=1), "docs")
    assert len(later) > len(earlier)
    assert later[: len(earlier)] == earlier


@pytest.mark.parametrize("hours", [1, 8])
def test_an_hour_later_what_was_said_before_is_the_same(hours: int) -> None:
    later_moment = NOW + timedelta(hours=hours)
    assert {(row.id, row.note, row.created_at) for row in reviews()} < {
        (row.id, row.note, row.created_at) for row in reviews(later_moment)
    }
    later_reports = {row.id: row.content for row in reports(later_moment)}
    assert len(later_reports) >= len(reports())
    assert all(later_reports[row.id] == row.content for row in reports())


def test_nothing_is_later_than_the_last_full_hour_or_earlier_than_the_fortnight() -> None:
    period = Period.before(NOW)
    assert period.end == NOW.replace(minute=0)
    for visit in visits(NOW, "shop"):
        assert period.start <= visit.occurred_at < visit.received_at <= period.end
    rows: list[WrittenReview | WrittenReport] = [*reviews(), *reports()]
    for row in rows:
        assert row.visit.received_at < row.created_at <= period.end


def test_ids_are_of_version_4_and_those_of_interactions_grow() -> None:
    ids = [visit.id for visit in sorted(visits(NOW, "shop"), key=lambda visit: visit.occurred_at)]
    assert {id_.version for id_ in ids} == {4}
    times = [id_.int >> 80 for id_ in ids]
    assert times == sorted(times)
    assert Ids(uuid.UUID(int=1)).make("review", ids[0]).version == 4


def test_the_traffic_follows_day_and_night_and_the_week() -> None:
    hours = Counter(visit.occurred_at.hour for visit in visits(NOW, "shop"))
    assert hours[10] > 4 * hours[3]
    weekdays = Counter(visit.occurred_at.weekday() for visit in visits(NOW, "shop"))
    assert weekdays[1] > 1.5 * weekdays[6]


def test_every_surface_outcome_and_kind_of_finding_is_there() -> None:
    slugs = ("shop", "docs", "bookings")
    assert {visit.operation.surface for slug in slugs for visit in visits(NOW, slug)} == set(SURFACES)
    assert {review.outcome for review in reviews()} == set(OUTCOMES)
    assert {finding["kind"] for report in reports() for finding in report.content["findings"]} == set(KINDS)


def test_some_operations_have_fewer_than_ten_reviews() -> None:
    counts = Counter(review.visit.operation.name for review in reviews())
    assert counts["/gift-cards/:id"] < MIN_OBSERVATIONS
    assert counts["list_versions"] < MIN_OBSERVATIONS


def test_the_notes_vary() -> None:
    templates = {note for product in content.notes()[0].values() for rows in product.values() for note in _all(rows)}
    assert len(templates) >= 60
    assert len({review.note for review in reviews()}) > len(reviews()) / 4


def _all(rows: dict[str, list[str]]) -> list[str]:
    return [note for notes in rows.values() for note in notes]


@pytest.mark.parametrize("now", WEEK)
def test_each_incident_fails_most_and_its_notes_say_so(now: datetime) -> None:
    for product in content.products().products:
        for incident in product.incidents:
            begin = incident.day + incident.hour / 24
            affected = between(now, incident.operation, begin, begin + incident.hours / 24)
            assert shares(affected)["failure"] > 0.5
            assert shares(between(now, incident.operation, 0, begin))["failure"] < 0.3
            notes = content.notes()[0][product.slug][incident.operation]["incident"]
            beginnings = {note.partition("{")[0] for note in notes}
            assert sum(review.note.startswith(tuple(beginnings - {""})) for review in affected) > len(affected) / 2


@pytest.mark.parametrize("now", WEEK)
def test_the_improvement_is_visible(now: datetime) -> None:
    (improvement,) = next(product for product in content.products().products if product.slug == "docs").improvements
    before = shares(between(now, improvement.operation, 0, improvement.day))
    after = shares(between(now, improvement.operation, improvement.day, DAYS))
    assert before["success"] < 0.5 < 0.65 < after["success"]


def test_every_review_and_report_would_be_accepted() -> None:
    for review in reviews():
        OutcomeSchema().load({"outcome": review.outcome, "note": review.note})
        assert find_private(review.note) is None
        assert "{" not in review.note
    for report in reports():
        members = {name: value for name, value in report.content.items() if value is not None}
        ReportSchema().load(members)
        assert "{" not in str(report.content["summary"])


def test_each_case_of_triage_is_about_feedback_that_is_older() -> None:
    period = Period.before(NOW)
    for case in content.triage().cases:
        begin = period.at(case.day, case.hour)
        name = (case.operation, case.moment)
        rows: list[WrittenReview | WrittenReport] = [*reviews(), *reports()]
        older = [row for row in rows if (row.visit.operation.name, row.visit.moment) == name and row.created_at < begin]
        assert len(older) > len(case.comments), case
        assert case.state in STATES
        assert begin + timedelta(hours=12) < period.at(DAYS - 1)
        assert all(1 <= len(comment) <= MAX_COMMENT_LENGTH for comment in case.comments)


def test_the_fields_of_the_bookings_would_be_accepted() -> None:
    for field in content.context().fields:
        members = {
            "label": field.label,
            "type": field.type,
            "allowedValues": field.allowed_values,
            "targetedAdvertisingSafe": field.advertising_safe,
            "enabled": field.enabled,
        }
        NewFieldSchema().load(members)
        texts = [field.key, field.label, field.type, *field.allowed_values]
        assert find_sensitive(texts, catalog_file().sensitive) is None


def test_the_evidence_names_what_is_on_the_allowlist() -> None:
    allowlist, evidence = read_allowlist(ALLOWLIST.read_text()), content.evidence()
    assert set(evidence.agents) <= set(allowlist.agents)
    assert set(evidence.referrers) <= set(allowlist.referrers)
    assert {source.attested for source in evidence.sources} <= set(allowlist.network_methods)
    assert {allowlist.agents[token].fetch_class for token in evidence.agents} == {
        agent.fetch_class for agent in allowlist.agents.values()
    }
