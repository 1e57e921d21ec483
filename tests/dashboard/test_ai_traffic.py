"""The page of AI traffic: fetches, and referrals apart from them."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.core import clock
from app.core.database import transaction
from app.products import service as products
from tests.dashboard.history import count_statements, export, export_csv, insert, words
from tests.factories import Company, create_company, observation, send_evidence, sign_in


@pytest.fixture
def browser(client: FlaskClient, company: Company) -> FlaskClient:
    """A client whose company's owner is signed in."""
    sign_in(client, company)
    return client


def count_evidence(company: Company, events: int, days_ago: int = 0, **columns: Any) -> None:
    """Store the count of a day: of crawling by OpenAI that is only claimed, by default."""
    values = {
        "environment_id": company.environment_id,
        "day_on": clock.now().date() - timedelta(days=days_ago),
        "source_kind": "cdn_log",
        "source_provider": "example-cdn",
        "actor_provider": "openai",
        "fetch_class": "crawling",
        "network_method": "",
        "referral_provider": "",
        "events": events,
    }
    insert("evidence_days", values | columns)


def count_referrals(company: Company, events: int, **columns: Any) -> None:
    count_evidence(
        company, events, **{"actor_provider": "", "fetch_class": "", "referral_provider": "perplexity"} | columns
    )


def traffic(browser: FlaskClient, query: str = "") -> str:
    return words(browser.get(f"/ai-traffic{query}").text)


def test_fetches_are_counted_by_class_and_provider_each_with_its_tier(browser: FlaskClient, company: Company) -> None:
    count_evidence(company, 30)
    count_evidence(company, 5, 6, network_method="published_ip_range")
    count_evidence(
        company, 7, fetch_class="user_fetch", actor_provider="anthropic", network_method="vercel_verified_bot"
    )
    count_evidence(company, 2, fetch_class="user_fetch")
    count_evidence(company, 99, 7)
    text = traffic(browser)
    assert "Fetches 44 32 claimed, 12 source-attested" in text
    assert "Class Fetches Claimed Source-attested crawling 35 30 5 user fetch 9 2 7" in text
    assert "Provider Fetches Claimed Source-attested openai 37 32 5 anthropic 7 0 7" in text
    assert "vercel verified bot 7 published IP range 5" in text
    page = browser.get("/ai-traffic").text
    assert all(f'title="{name}"' in page for name in ("source_attested", "user_fetch", "vercel_verified_bot"))
    assert "source_attested" in text
    assert "Fetches 143 131 claimed" in traffic(browser, "?days=30")


def test_referrals_stand_beside_fetches_and_are_never_added_to_them(browser: FlaskClient, company: Company) -> None:
    count_evidence(company, 30)
    count_evidence(company, 4, referral_provider="perplexity")
    count_referrals(company, 17)
    count_referrals(company, 6, referral_provider="openai")
    text = traffic(browser)
    assert "Fetches 34 34 claimed, 0 source-attested" in text
    assert "Referrals 27 a referral has no tier" in text
    assert "Provider Referrals perplexity 21 openai 6" in text
    assert "CDN log example-cdn 34 34 0 27" in text
    assert not re.search(r"\b(57|61)\b", text)


def test_each_has_a_chart_of_its_own(browser: FlaskClient, company: Company) -> None:
    count_evidence(company, 30)
    count_referrals(company, 17)
    page = browser.get("/ai-traffic").text
    today = f"{clock.now():%-d %b}"
    assert f"<title>{today}: 30 claimed</title>" in page
    assert f"<title>{today}: 17 referrals</title>" in page


def test_the_page_says_what_a_fetch_does_not_prove(browser: FlaskClient) -> None:
    text = traffic(browser)
    assert "does not prove indexing, training, ranking, citation, an impression or a permission" in text


def test_the_allowlist_has_the_day_on_which_each_entry_was_checked(browser: FlaskClient) -> None:
    text = traffic(browser)
    assert re.search(r"17 agents .* GPTBot openai crawling \d+ \w+ \d{4} developers\.openai\.com", text)
    assert re.search(r"11 referrers .* www\.perplexity\.ai perplexity \d+ \w+ \d{4} ", text)
    assert 'href="https://developers.openai.com/api/docs/bots" rel="noreferrer"' in browser.get("/ai-traffic").text


def test_an_event_that_a_source_sends_is_counted_at_once(browser: FlaskClient, company: Company) -> None:
    response = send_evidence(
        browser, company, observation(), observation(referrerHost="chatgpt.com"), source={"provider": "my-cdn"}
    )
    assert response.status_code == 200
    text = traffic(browser)
    assert "Class Fetches Claimed Source-attested user fetch 1 1 0" in text
    assert "CDN log my-cdn 1 1 0 1" in text


def test_exports_have_the_counts_of_each_day(browser: FlaskClient, company: Company) -> None:
    for days_ago in (0, 5, 25, 30):
        count_evidence(company, days_ago + 1, days_ago)
    count_referrals(company, 17)
    page = browser.get("/ai-traffic?days=30").text
    paths = [unescape(path) for path in re.findall(r'href="([^"]*/export[^"]*)"', page)]
    assert [path.partition("?")[0] for path in paths] == ["/ai-traffic/export.csv", "/ai-traffic/export.ndjson"]
    items = export(browser, paths[1])
    assert [item["events"] for item in items] == [26, 6, 17, 1]
    assert items[2] == {
        "date": clock.now().date().isoformat(),
        "sourceKind": "cdn_log",
        "sourceProvider": "example-cdn",
        "actorProvider": None,
        "fetchClass": None,
        "networkEvidenceMethod": None,
        "referralProvider": "perplexity",
        "events": 17,
    }
    assert [row["events"] for row in export_csv(browser, paths[0])] == ["26", "6", "17", "1"]


def test_no_more_is_shown_than_the_environment_keeps(browser: FlaskClient, company: Company) -> None:
    count_evidence(company, 3)
    count_evidence(company, 8, 2)
    with transaction():
        products.set_environment(company.environment_id, evidence_retention_days=2)
    assert "Fetches 3 3 claimed" in traffic(browser)
    assert [item["events"] for item in export(browser, "/ai-traffic/export.ndjson")] == [3]


def test_without_evidence_the_page_says_how_to_send_it(browser: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    count_evidence(other_company, 5)
    page = browser.get("/ai-traffic").text
    assert "No evidence yet" in page
    assert '<a class="button primary" href="/keys?' in page
    assert "Sources" not in words(page)
    assert browser.get(f"/ai-traffic/export.csv?environment={other_company.environment_id}").status_code == 404


def test_the_page_takes_as_many_statements_for_many_sources_as_for_one(browser: FlaskClient, company: Company) -> None:
    count_evidence(company, 3)
    count = count_statements(browser, "/ai-traffic")
    for number in range(8):
        count_evidence(company, 3, source_provider=f"cdn-{number}")
    assert count_statements(browser, "/ai-traffic") == count <= 9
