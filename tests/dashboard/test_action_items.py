"""What needs a decision, on the home page."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, update

from app.core import clock
from app.core.database import session, transaction
from app.products import service as products
from app.products.models import Key
from app.products.rules import KeyKind, Mode
from app.triage import queries
from app.webhooks.models import WebhookEndpoint
from tests.dashboard.history import count_day, insert, words
from tests.factories import Company, sign_in
from tests.reading.fixtures import Reader
from tests.triage.actions import triage


@pytest.fixture
def browser(client: FlaskClient, company: Company, reader: Reader) -> FlaskClient:
    """A client whose company's owner is signed in, and that has an interaction."""
    reader.store_interaction()
    sign_in(client, company)
    return client


def home(browser: FlaskClient) -> str:
    return words(browser.get("/").text)


def test_nothing_waits_where_all_is_well(browser: FlaskClient) -> None:
    assert "What needs a decision Nothing waits for you." in home(browser)


def change_keys(company: Company, **values: Any) -> None:
    with transaction():
        session().execute(update(Key).where(Key.environment_id == company.environment_id).values(**values))


def test_a_key_that_expires_soon_needs_a_decision_until_it_is_replaced(browser: FlaskClient, company: Company) -> None:
    key_id = next(key.id for key in _keys(company) if key.kind == KeyKind.COMPANY)
    with transaction():
        session().execute(update(Key).where(Key.id == key_id).values(expires_at=clock.now() + timedelta(days=13)))
    assert "A company key expires It ends on " in home(browser)
    with transaction():
        products.rotate_key(key_id, 24)
        successor = session().scalars(select(Key).where(Key.replaces_id == key_id)).one()
        successor.expires_at = None
    assert "Nothing waits for you." in home(browser)


def _keys(company: Company) -> list[Key]:
    with transaction():
        return products.list_keys(company.environment_id)


def test_a_key_that_expires_later_does_not(browser: FlaskClient, company: Company) -> None:
    change_keys(company, expires_at=clock.now() + timedelta(days=15))
    assert "Nothing waits for you." in home(browser)


@pytest.mark.parametrize("column", ["expires_at", "revoked_at"])
def test_an_environment_without_an_active_product_key_needs_a_decision(
    browser: FlaskClient, company: Company, column: str
) -> None:
    change_keys(company, **{column: clock.now() - timedelta(days=1)})
    text = home(browser)
    assert "No product key is active" in text
    assert "key expires" not in text


def test_telemetry_without_any_review_needs_a_decision(browser: FlaskClient, company: Company, reader: Reader) -> None:
    count_day(company, "/orders", 12)
    item = f'<a href="/set-up?environment={company.environment_id}">12 interactions, no review yet</a>'
    assert item in browser.get("/").text
    reader.store_review(timedelta(days=30))
    assert "no review yet" not in home(browser)


def test_the_mode_off_needs_a_decision(browser: FlaskClient, company: Company) -> None:
    with transaction():
        products.set_environment(company.environment_id, mode=Mode.OFF)
    assert "No feedback is taken" in home(browser)


def test_refused_and_lost_events_need_a_decision(browser: FlaskClient, company: Company) -> None:
    row = {"environment_id": company.environment_id, "source": "telemetry", "sdk": "python", "version": "1.0.0"}
    for days_ago, measure, name, events in (
        (0, "refused", "validation_failed", 3),
        (1, "refused", "validation_failed", 4),
        (2, "refused", "validation_failed", 90),
        (0, "lost", "queue_full", 5),
        (0, "accepted", "", 50),
    ):
        day_on = clock.now().date() - timedelta(days=days_ago)
        insert("ledger_days", {**row, "day_on": day_on, "measure": measure, "name": name, "events": events})
    text = home(browser)
    link = f'<a href="/set-up?environment={company.environment_id}#delivery">'
    assert browser.get("/").text.count(link) == 2
    assert "Events were refused Since yesterday: 7 validation_failed." in text
    assert "Events were lost before they were sent Since yesterday: 5 queue_full." in text


def test_a_disabled_webhook_needs_a_decision_and_its_path_stays_hidden(browser: FlaskClient, company: Company) -> None:
    for disabled_at, host in ((clock.now(), "hooks.example.com"), (None, "fine.example.com")):
        endpoint = WebhookEndpoint(
            environment_id=company.environment_id,
            id=company.product_id if disabled_at else company.environment_id,
            url=f"https://{host}/secret-path",
            event_types=["review.created"],
            sealed_secret=b"",
            created_at=clock.now(),
            disabled_at=disabled_at,
            disabled_reason="gone" if disabled_at else None,
        )
        with transaction():
            session().add(endpoint)
    page = browser.get("/").text
    assert "A webhook is disabled hooks.example.com gets none since " in words(page)
    assert f'<a href="/set-up?environment={company.environment_id}#webhooks">' in page
    assert "fine.example.com" not in page
    assert "secret-path" not in page


def test_failures_and_reports_that_nobody_has_triaged_need_a_decision(
    browser: FlaskClient, company: Company, reader: Reader
) -> None:
    failures = [reader.store_review(outcome="failure") for _ in range(3)]
    reader.store_review(outcome="partial")
    reader.store_review(timedelta(days=15), outcome="failure")
    report = reader.store_report()
    triage(company, failures[0], "investigating")
    page = browser.get("/").text
    assert "2 failures are not triaged These reviews say failure" in words(page)
    assert "1 report is not triaged Nobody has said" in words(page)
    urls = [html.unescape(url) for url in re.findall(r'<a href="(/feedback\?[^"]*triage=new)"', page)]
    lists = [browser.get(url).text for url in urls]
    assert [{str(id_) for id_ in (*failures, report) if str(id_) in text} for text in lists] == [
        {str(failures[1]), str(failures[2])},
        {str(report)},
    ]
    for interaction_id in failures[1:]:
        triage(company, interaction_id, "wont_act")
    triage(company, report, "resolved", kind="report")
    assert "Nothing waits for you." in home(browser)


def test_where_more_reviews_are_kept_than_are_looked_at_the_count_is_a_lower_bound(
    browser: FlaskClient, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        reader.store_review(timedelta(minutes=number), outcome="success" if number == 1 else "failure")
    for bound, title in ((5, "3 failures are"), (4, "At least 3 failures are"), (2, "At least 1 failure is")):
        monkeypatch.setattr(queries, "MAX_NEW_SCAN", bound)
        assert f"What needs a decision {title} not triaged" in home(browser)
