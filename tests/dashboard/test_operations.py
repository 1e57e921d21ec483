"""The pages of operations."""

import re
from datetime import timedelta
from functools import partial
from html import unescape

import pytest
from flask.testing import FlaskClient

from app.core.database import transaction
from app.dashboard import operations
from app.dashboard.lists import list_page
from tests.dashboard.history import HOSTILE, count_day, count_statements, export, export_csv, words
from tests.factories import Company, create_company, sign_in
from tests.reading.fixtures import Reader, forge_cursor


@pytest.fixture
def browser(client: FlaskClient, company: Company) -> FlaskClient:
    """A client whose company's owner is signed in."""
    sign_in(client, company)
    return client


def names(page: str) -> list[str]:
    return [unescape(name) for name in re.findall(r'<th scope="row"><a [^>]*><code>([^<]*)</code>', page)]


def test_an_operation_has_its_share_its_interval_and_its_coverage(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 12, 6, 0, 1)
    count_day(company, "/orders", 4, 2, 0, 1, days_ago=3, surface="http_html")
    text = words(browser.get("/operations").text)
    assert "/orders 16 80 % 8 of 10, 49 to 94 % 10 of 16 2 last" in text


def test_a_share_below_ten_reviews_is_not_shown(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 16, 8, 0, 1)
    assert "/orders 16 – 8 of 9 9 of 16 1 last" in words(browser.get("/operations").text)


def test_operations_are_sorted_by_volume_failure_or_name(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/a", 100, 90, 0, 0)
    count_day(company, "/b", 200, 10, 0, 90)
    count_day(company, "/c", 300)
    for sort, expected in (("interactions", "cba"), ("worst", "bac"), ("operation", "abc")):
        assert "".join(names(browser.get(f"/operations?sort={sort}").text)) == "/" + "/".join(expected)
    assert names(browser.get("/operations").text) == ["/c", "/b", "/a"]
    assert browser.get("/operations?sort=other").status_code == 422


def test_filters_are_the_beginning_of_the_name_and_the_surface(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 5)
    count_day(company, "/orders/:id", 7, surface="http_html")
    count_day(company, "/carts", 3)
    count_day(company, "/orders", 2, days_ago=20)
    assert names(browser.get("/operations?operation=/orders").text) == ["/orders/:id", "/orders"]
    assert names(browser.get("/operations?surface=http_html").text) == ["/orders/:id"]
    assert "/orders 7 " in words(browser.get("/operations?operation=/orders&surface=http_json&days=30").text)
    assert (
        "None of the operations of these days has what the filters ask for."
        in browser.get("/operations?surface=mcp").text
    )
    assert browser.get("/operations?surface=other").status_code == 422
    assert browser.get("/operations?operation=%00").status_code == 422


def test_the_next_page_continues_the_list_whatever_its_order(
    browser: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "list_page", partial(list_page, size=2))
    for number in range(5):
        count_day(company, f"/{number}", 10, 5, 0, number)
    for sort in ("interactions", "worst", "operation"):
        path, found = f"/operations?sort={sort}&operation=/", []
        while path:
            page = browser.get(path).text
            found += names(page)
            match = re.search(r'<a rel="next" href="([^"]*)"', page)
            path = unescape(match[1]) if match else ""
            assert "page=" not in path
            assert "offset=" not in path
        assert len(found) == 5
        assert set(found) == {"/0", "/1", "/2", "/3", "/4"}


def test_a_place_of_another_order_is_refused(
    browser: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "list_page", partial(list_page, size=1))
    count_day(company, "/a", 1)
    count_day(company, "/b", 1)
    match = re.search(r"after=([\w-]+)", browser.get("/operations").text)
    assert match
    assert browser.get(f"/operations?after={match[1]}").status_code == 200
    assert browser.get(f"/operations?sort=worst&after={match[1]}").status_code == 422
    for value in ("NaN", "1e99999", "1_0", " 1 "):
        assert browser.get(f"/operations?after={forge_cursor(match[1], [value, '/x'])}").status_code == 422


def test_exports_carry_the_filters(browser: FlaskClient, company: Company) -> None:
    count_day(company, "=cmd()", 3, 1, 1, 1)
    count_day(company, "/orders", 5)
    page = browser.get("/operations?operation=%3D&sort=worst").text
    paths = [unescape(path) for path in re.findall(r'href="([^"]*/export[^"]*)"', page)]
    assert [path.partition("?")[0] for path in paths] == ["/operations/export.csv", "/operations/export.ndjson"]
    (row,) = export_csv(browser, paths[0])
    (item,) = export(browser, paths[1])
    assert (row["operation"], row["interactions"], row["failure"]) == ("'=cmd()", "3", "1")
    assert (item["operation"], item["interactions"], item["success"], item["reviews"]) == ("=cmd()", 3, 1, 3)


def test_durations_are_those_that_half_and_most_calls_stay_below(
    browser: FlaskClient, company: Company, reader: Reader
) -> None:
    count_day(company, "/orders", 11)
    count_day(company, "/few", 9)
    for number in range(11):
        reader.store_interaction(timedelta(minutes=number), operation="/orders", duration_ms=number * 100.0)
    for _ in range(9):
        reader.store_interaction(operation="/few", duration_ms=100.0)
    reader.store_interaction(timedelta(days=20), operation="/orders", duration_ms=1_000_000.0)
    text = words(browser.get("/operations").text)
    assert "/orders 11 – 0 of 11 0 500 ms 950 ms" in text
    assert "/few 9 – 0 of 9 0 – –" in text
    detail = words(browser.get("/operations/operation?name=/orders").text)
    assert "Duration, p50 500 ms of 11 calls among the environment’s newest 10,000" in detail
    assert "Duration, p95 950 ms" in detail


def test_the_detail_has_the_numbers_of_the_days_and_of_each_surface(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/orders", 12, 6, 1, 0)
    count_day(company, "/orders", 8, 1, 1, 3, days_ago=2, surface="mcp")
    count_day(company, "/orders", 50, 9, 9, 9, days_ago=14)
    count_day(company, "/other", 50, 9, 9, 9)
    text = words(browser.get("/operations/operation?name=/orders").text)
    assert "Success 58 % 95 % interval 32 to 81 %, 12 of 20 interactions reviewed" in text
    assert "Failure 25 % 95 % interval 9 to 53 %, 3 of 12 reviews" in text
    assert "Interactions 20 12 confirmed" in text
    assert "HTTP, JSON 12 – 6 of 7 7 of 12" in text
    assert "MCP 8 – 1 of 5 5 of 8" in text
    assert "Reviews by day and outcome; days in UTC, today is not over success partial failure 7 0" in text


def test_the_detail_shows_the_newest_failures_and_reviews(
    browser: FlaskClient, company: Company, reader: Reader
) -> None:
    count_day(company, "/orders", 3, 1, 0, 1)
    for outcome, note in (("success", "It went well."), ("failure", HOSTILE)):
        interaction_id = reader.store_interaction(operation="/orders")
        reader.store_review(interaction_id=interaction_id, outcome=outcome, note=note)
    reader.store_review(outcome="failure", note="Of something else.")
    page = browser.get("/operations/operation?name=/orders").text
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert HOSTILE not in page
    assert page.count("onerror=alert(1)") == 2
    assert page.count("It went well.") == 1
    assert "Of something else." not in page
    assert f'href="/feedback/review/{interaction_id}?environment={company.environment_id}">' in page


def test_a_hostile_name_is_escaped_in_list_and_detail(browser: FlaskClient, company: Company) -> None:
    name = '"><svg/onload=alert(1)>'
    count_day(company, name, 3)
    page = browser.get("/operations").text
    assert names(page) == [name]
    match = re.search(r'<th scope="row"><a href="([^"]*)"', page)
    assert match
    detail = browser.get(unescape(match[1]))
    assert detail.status_code == 200
    assert "<svg/onload" not in page + detail.text


@pytest.mark.parametrize("query", ["", "?name=", "?name=/nothing", "?name=%00", "?name=" + "x" * 161, "?name=/theirs"])
def test_an_operation_that_does_not_exist_is_not_found(browser: FlaskClient, query: str) -> None:
    with transaction():
        other_company = create_company()
    count_day(other_company, "/theirs", 3)
    assert browser.get(f"/operations/operation{query}").status_code == 404


def test_an_operation_beyond_the_retention_is_not_found(browser: FlaskClient, company: Company) -> None:
    count_day(company, "/old", 3, days_ago=90)
    count_day(company, "/kept", 3, days_ago=89)
    assert browser.get("/operations/operation?name=/old").status_code == 404
    assert "Interactions 0 0 confirmed" in words(browser.get("/operations/operation?name=/kept").text)


def test_the_operation_of_what_no_telemetry_has_told_is_explained(browser: FlaskClient, company: Company) -> None:
    count_day(company, "pending", 3)
    count_day(company, "/orders", 3)
    sentence = "This is no operation of the product"
    assert sentence in browser.get("/operations/operation?name=pending").text
    assert sentence not in browser.get("/operations/operation?name=/orders").text


def test_without_operations_the_page_links_to_the_set_up(browser: FlaskClient) -> None:
    page = browser.get("/operations").text
    assert "No operation yet" in page
    assert '<a class="button primary" href="/set-up?' in page


def test_the_list_takes_as_many_statements_for_many_operations_as_for_one(
    browser: FlaskClient, company: Company
) -> None:
    count_day(company, "/0", 3, 1, 1, 1)
    count = count_statements(browser, "/operations")
    for number in range(1, 9):
        count_day(company, f"/{number}", 3, 1, 1, 1)
    assert count_statements(browser, "/operations") == count <= 8
