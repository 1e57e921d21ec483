"""The home page: shares, what fails, what arrives, and what needs a decision."""

import re
from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from app.accounts.service import create_further_workspace
from app.core import clock
from app.core.database import transaction
from app.products import service as products
from tests.dashboard.browser import fields
from tests.dashboard.history import HOSTILE, count_day, count_statements, words
from tests.factories import Company, create_company, sign_in
from tests.reading.fixtures import Reader


@pytest.fixture
def browser(client: FlaskClient, company: Company, reader: Reader) -> FlaskClient:
    """A client whose company's owner is signed in, and that has an interaction."""
    reader.store_interaction()
    sign_in(client, company)
    return client


def home(browser: FlaskClient, query: str = "") -> str:
    return words(browser.get(f"/{query}").text)


def test_success_has_its_interval_and_its_coverage(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 10, 6, 0, 1)
    count_day(company, "/carts", 6, 2, 1, 0, days_ago=6)
    count_day(company, "/orders", 90, 0, 0, 90, days_ago=30)
    assert "Success 80 % 95 % interval 49 to 94 %, 10 of 16 interactions reviewed" in home(browser)
    assert "Success – too few reviews for a share, 7 of 10 interactions reviewed" in home(browser, "?days=1")


def test_the_share_is_compared_with_that_of_the_period_before(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 100, 56, 0, 14)
    count_day(company, "/orders", 90, 48, 12, 20, days_ago=7)
    count_day(company, "/orders", 90, 0, 0, 80, days_ago=14)
    # Newcombe (1998), example (a).
    assert (
        "Against the 7 days before +20 points 95 % interval +5 to +33 points; then 60 %, 80 of 90 reviewed"
    ) in home(browser)
    assert '<div class="stat good"><dt>Against' in browser.get("/").text
    assert "Against the day before – No reviews the day before" in home(browser, "?days=1")
    assert "Against the 30 days before – No reviews in the 30 days before" in home(browser, "?days=30")
    assert "Against the 90 days before – the environment keeps only 90 days" in home(browser, "?days=90")


@pytest.mark.parametrize(
    ("now", "then", "reason"),
    [(10, 9, "Only 9 reviewed then"), (9, 10, "Only 9 reviewed now"), (9, 9, "Only 9 reviewed then")],
)
def test_without_ten_reviews_of_both_there_is_no_difference(
    browser: FlaskClient, company: Company, now: int, then: int, reason: str
) -> None:
    count_day(company, "/orders", 20, now, 0, 0)
    count_day(company, "/orders", 20, then, 0, 0, days_ago=7)
    assert f"Against the 7 days before – {reason}; a share needs ten" in home(browser)


def test_a_difference_that_may_be_chance_has_no_tone(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 20, 12, 0, 8)
    count_day(company, "/orders", 20, 14, 0, 6, days_ago=7)
    page = browser.get("/").text
    assert "Against the 7 days before −10 points" in words(page)
    assert '<div class="stat"><dt>Against' in page


def test_the_chart_and_its_table_have_the_outcomes_of_each_day(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 10, 6, 0, 1)
    count_day(company, "/carts", 10, 1, 2, 0)
    today = clock.now()
    page = browser.get("/").text
    assert f"<title>{today:%-d %b}: 7 success, 2 partial, 1 failure</title>" in page
    assert page.count("<g><title>") == 7
    assert f"{today:%-d %b %Y} 7 2 1" in words(page)


def test_a_chart_without_reviews_has_no_figure(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 10)
    page = browser.get("/").text
    assert "Outcomes No reviews in these days. Newest" in words(page)
    assert '<figure class="chart">' not in page


def test_what_fails_most_certainly_comes_first(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/unlucky", 9, 0, 0, 1)
    count_day(company, "/broken", 200, 10, 20, 70)
    count_day(company, "/fine", 200, 100, 0, 0)
    count_day(company, "/hindered", 200, 10, 90, 0)
    count_day(company, "/failing", 200, 20, 0, 80)
    today = f"{clock.now():%-d %b}"
    rows = (
        f"/broken 90 % 90 of 100, 83 to 94 % 100 of 200 {today} "
        "/hindered 90 % 90 of 100, 83 to 94 % 100 of 200 – "
        f"/failing 80 % 80 of 100, 71 to 87 % 100 of 200 {today} "
        f"/unlucky – 1 of 1 1 of 9 {today} Sorted by the lower end of the interval."
    )
    assert f"Last failure {rows} All operations, worst first" in home(browser)


def test_what_fails_most_has_its_last_day_and_its_newest_note(
    browser: FlaskClient, company: Company, reader: Reader
) -> None:
    count_day(company, "/broken", 20, 5, 0, 9, days_ago=3)
    count_day(company, "/broken", 20, 5, 0, 6, days_ago=4)
    count_day(company, "/broken", 20, 5, 0, 0)
    count_day(company, "/hindered", 20, 5, 5, 0)
    interaction_id = reader.store_interaction(operation="/hindered")
    reader.store_review(interaction_id=interaction_id, outcome="partial", note="It hindered.")
    for days, outcome in ((1, "success"), (2, "partial"), (3, "failure"), (4, "failure")):
        interaction_id = reader.store_interaction(timedelta(days=days), operation="/broken")
        reader.store_review(
            timedelta(days=days), interaction_id=interaction_id, outcome=outcome, note=f"{HOSTILE} {days}."
        )
    page = browser.get("/").text.partition("What needs a decision")[0]
    day = f"{clock.now() - timedelta(days=3):%-d %b}"
    assert f"/broken &lt;img src=x onerror=alert(1)&gt; 3. 50 % 15 of 30, 33 to 67 % 30 of 60 {day}" in words(page)
    assert "/hindered It hindered. 50 % " in words(page)
    assert page.count("onerror") == 1
    assert HOSTILE not in page


def test_the_newest_five_reviews_are_shown_and_escaped(browser: FlaskClient, company: Company, reader: Reader) -> None:
    for number in range(6):
        interaction_id = reader.store_review(timedelta(minutes=number), note=f"{HOSTILE} {number}.")
    page = browser.get("/").text
    notes = re.findall(r"&lt;img src=x onerror=alert\(1\)&gt; (\d)\.", page)
    assert notes == ["0", "1", "2", "3", "4"]
    assert HOSTILE not in page
    assert str(interaction_id) not in page


def test_what_arrives_today_is_counted(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 7)
    count_day(company, "/orders", 9, 1, 1, 0, days_ago=1)
    text = home(browser)
    assert "Interactions 16 2 confirmed Interactions today 7 newest " in text


def test_what_passes_the_retention_soon_is_told(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 40, 3, 0, 0, days_ago=89)
    count_day(company, "/orders", 2, 1, 0, 0, days_ago=83)
    count_day(company, "/orders", 2, 1, 0, 0, days_ago=82)
    assert "In the next 7 days 42 interactions with 4 reviews pass the retention ." in home(browser)


def test_before_anything_arrives_the_page_shows_the_steps(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    page = client.get("/").text
    for path in ("/keys", "/set-up", "/settings", "/feedback"):
        assert f'<h2><a href="{path}?environment={company.environment_id}">' in page
    assert "Create a product key done" in words(page)
    with transaction():
        for key in products.list_keys(company.environment_id):
            products.revoke_key(key.id)
    assert "Create a product key The product" in home(client)


def test_before_anything_arrives_a_workspace_that_is_in_use_is_offered(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    with transaction():
        other = create_further_workspace(company.email, "Sample <data>")
        theirs = create_company()
        product = products.create_product(other.id, "Shop")
    assert "Look at" not in home(client)
    with transaction():
        products.create_environment(product.id, "production")
    page = client.get("/")
    assert "Look at Sample &lt;data&gt;" in page.text
    assert str(theirs.workspace_id) not in page.text
    values = fields(page)
    assert values["workspace"] == str(other.id)
    assert client.post("/workspace", data=values).status_code == 303
    assert "Sample &lt;data&gt;" in client.get("/settings").text


def test_other_environments_count_for_nothing(browser: FlaskClient, company: Company, reader: Reader) -> None:
    with transaction():
        other_company = create_company()
        staging = products.create_environment(company.product_id, "staging")
    for environment_id in (other_company.environment_id, staging.id):
        count_day(company, "/theirs", 99, 33, 33, 33, environment_id=environment_id)
        reader.store_review(environment_id=environment_id, note="Of another environment.")
    text = home(browser)
    assert "/theirs" not in text
    assert "Of another environment." not in text
    assert "Interactions 0 0 confirmed" in text
    assert browser.get(f"/?environment={other_company.environment_id}").status_code == 404


def test_the_page_takes_as_many_statements_for_much_as_for_little(
    browser: FlaskClient, company: Company, reader: Reader
) -> None:
    count = count_statements(browser, "/")
    for number in range(5):
        count_day(company, f"/{number}", 3, 1, 1, 1)
        reader.store_review(interaction_id=reader.store_interaction(), outcome="failure")
    assert count_statements(browser, "/") == count <= 15
