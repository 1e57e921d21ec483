"""Operations with their counts."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.core.database import session, transaction
from app.interactions.rules import MAX_OPERATION_LENGTH
from app.products import service as products
from tests.factories import Company
from tests.reading.fixtures import NOW, Reader

INSERT = text("""
    INSERT INTO interaction_days
        (environment_id, day_on, operation, surface, interactions, confirmed, success, partial, failure)
    VALUES (:environment_id, :day_on, :operation, :surface, :interactions, :confirmed, :success, :partial, :failure)
""")


def count_day(company: Company, operation: str, interactions: int, *outcomes: int, **columns: Any) -> None:
    """Store the counts of a day: success, partial and failure are the outcomes."""
    names = ("success", "partial", "failure")
    values = {
        "environment_id": company.environment_id,
        "day_on": NOW.date(),
        "operation": operation,
        "surface": "http_json",
        "interactions": interactions,
        "confirmed": sum(outcomes),
        **dict(zip(names, outcomes or (0, 0, 0), strict=True)),
        **columns,
    }
    with transaction():
        session().execute(INSERT, values)


def test_counts_are_added_over_days_and_surfaces(reader: Reader, company: Company) -> None:
    count_day(company, "/orders", 40, 6, 1, 1)
    count_day(company, "/orders", 20, 2, 0, 2, surface="http_html")
    count_day(company, "/orders", 4, 0, 0, 0, day_on=NOW.date() - timedelta(days=29))
    count_day(company, "/orders", 99, 9, 9, 9, day_on=NOW.date() - timedelta(days=30))
    assert reader.items("operations") == [
        {
            "operation": "/orders",
            "interactions": 64,
            "confirmed": 12,
            "reviews": 12,
            "success": 8,
            "partial": 1,
            "failure": 3,
            "coverage": 12 / 64,
            "successRate": 8 / 12,
            "failureRate": 3 / 12,
        }
    ]
    assert reader.items("operations", days=1, surface="http_html")[0]["interactions"] == 20


def test_an_operation_that_all_interactions_have_left_is_not_listed(reader: Reader, company: Company) -> None:
    count_day(company, "/orders", 3, 1, 0, 0)
    count_day(company, "pending", 0, 0, 0, 0)
    assert [item["operation"] for item in reader.items("operations")] == ["/orders"]


def test_a_rate_of_few_reviews_is_not_shown(reader: Reader, company: Company) -> None:
    count_day(company, "/few", 40, 0, 0, 9)
    (operation,) = reader.items("operations")
    assert (operation["failure"], operation["successRate"], operation["failureRate"]) == (9, None, None)


def test_the_worst_come_first_by_what_is_certain(reader: Reader, company: Company) -> None:
    count_day(company, "/unlucky", 9, 0, 0, 1)
    count_day(company, "/broken", 200, 10, 0, 90)
    count_day(company, "/half", 200, 0, 100, 0)
    count_day(company, "/fine", 200, 100, 0, 0)
    count_day(company, "/silent", 900)
    names = [item["operation"] for item in reader.items("operations", sort="worst")]
    assert names == ["/broken", "/half", "/unlucky", "/fine", "/silent"]


@pytest.mark.parametrize("sort", ["interactions", "worst", "operation"])
def test_pages_together_are_the_list(reader: Reader, company: Company, sort: str) -> None:
    for number in range(11):
        count_day(company, f"/op_{number:02}", 1 + number // 2, number // 2, number % 3, number // 3)
    whole = reader.items("operations", sort=sort, limit=200)
    read = list(reader.pages("operations", sort=sort, limit=4))
    assert [len(page["items"]) for page in read] == [4, 4, 3]
    assert [item for page in read for item in page["items"]] == whole
    counts = [item["interactions"] for item in reader.items("operations")]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("character", ["\N{GRINNING FACE}", '"', "\\"])
def test_the_longest_operation_fits_into_a_cursor(reader: Reader, company: Company, character: str) -> None:
    names = [character * (MAX_OPERATION_LENGTH - 1) + end for end in "ab"]
    for name in names:
        count_day(company, name, 300, 0, 67, 33)
    read = list(reader.pages("operations", sort="worst", limit=1))
    assert [item["operation"] for page in read for item in page["items"]] == names


def test_no_day_past_the_retention_is_counted(reader: Reader, company: Company) -> None:
    with transaction():
        products.set_environment(company.environment_id, retention_days=2)
    for age in range(4):
        count_day(company, "/orders", 1, day_on=NOW.date() - timedelta(days=age))
    assert reader.items("operations", days=365)[0]["interactions"] == 2
