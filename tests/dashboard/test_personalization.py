"""The page of personalization: decisions with their outcomes, by variant and by context."""

import re
import uuid
from datetime import datetime, timedelta
from functools import partial
from html import unescape

import pytest
from flask.testing import FlaskClient

from app.core import clock
from app.core.database import transaction
from app.dashboard import personalization
from app.dashboard.lists import list_page
from app.personalization import queries
from tests.dashboard.history import HOSTILE, count_statements, export, export_csv, insert, words
from tests.factories import Company, create_company, sign_in

PERSONALIZATION, ADVERTISING = "product_personalization", "targeted_advertising"


@pytest.fixture
def browser(client: FlaskClient, company: Company) -> FlaskClient:
    """A client whose company's owner is signed in."""
    sign_in(client, company)
    return client


def decide(
    company: Company,
    variant: str | None = None,
    *outcomes: str,
    signals: int = 1,
    age: timedelta = timedelta(minutes=5),
    purpose: str = PERSONALIZATION,
) -> str:
    """Store a decision and its outcomes, each a minute after the one before; return its external id."""
    decision_id, at = uuid.uuid4(), clock.now() - age
    external_id = f"d-{decision_id}"
    insert(
        "personalization_decisions",
        {
            "product_id": company.product_id,
            "external_id": external_id,
            "id": decision_id,
            "retrieval_id": uuid.uuid4(),
            "purpose": purpose,
            "signal_ids": "{" + ",".join(str(uuid.uuid4()) for _ in range(signals)) + "}",
            "variant": variant,
            "created_at": at,
        },
    )
    for number, outcome in enumerate(outcomes, 1):
        record(company, decision_id, outcome, at + timedelta(seconds=number))
    return external_id


def record(
    company: Company, decision_id: uuid.UUID, outcome: str, at: datetime, occurred_at: datetime | None = None
) -> None:
    insert(
        "personalization_outcomes",
        {
            "product_id": company.product_id,
            "external_id": f"o-{uuid.uuid4()}",
            "id": uuid.uuid4(),
            "decision_id": decision_id,
            "outcome": outcome,
            "occurred_at": occurred_at,
            "created_at": at,
        },
    )


def decide_often(company: Company, variant: str | None, positive: int, negative: int, open_: int = 0) -> None:
    for _ in range(positive):
        decide(company, variant, "conversion")
    for _ in range(negative):
        decide(company, variant, "dismissal")
    for _ in range(open_):
        decide(company, variant)


def page_text(browser: FlaskClient, query: str = "") -> str:
    return words(browser.get(f"/personalization{query}").text)


def external_ids(page: str) -> list[str]:
    return re.findall(r'<th scope="row"><code>(d-[^<]*)</code>', page)


def test_variants_have_their_share_coverage_and_lift(browser: FlaskClient, company: Company) -> None:
    # Newcombe (1998), example (c): the interval is 0.1705 to 0.8090.
    decide_often(company, "reranked", 9, 1, open_=6)
    decide_often(company, None, 3, 7)
    text = page_text(browser)
    assert "reranked 90 % 9 of 10, 60 to 98 % 10 of 16 +60 points +17 to +81 points 9 conversion, 1 dismissal" in text
    assert "no variant 30 % 3 of 10, 11 to 60 % 10 of 10 baseline 3 conversion, 7 dismissal" in text


def test_below_ten_outcomes_there_is_neither_a_share_nor_a_lift(browser: FlaskClient, company: Company) -> None:
    decide_often(company, "reranked", 9, 0, open_=9)
    decide_often(company, None, 3, 7)
    assert "reranked – 9 of 9 9 of 18 – 9 conversion" in page_text(browser)


def test_the_last_outcome_of_a_decision_counts(browser: FlaskClient, company: Company) -> None:
    decide(company, "a", "engagement", "abandonment")
    decide(company, "b", "dismissal", "completion")
    decision_id = uuid.UUID(decide(company, "c", "conversion").removeprefix("d-"))
    now = clock.now()
    record(company, decision_id, "dismissal", now, occurred_at=now - timedelta(days=1))
    text = page_text(browser)
    assert "a – 0 of 1 1 of 1 baseline 1 abandonment" in text
    assert "b – 1 of 1 1 of 1 – 1 completion" in text
    assert "c – 1 of 1 1 of 1 – 1 conversion" in text
    outcomes = re.findall(r'<span class="badge (\w+)">(\w+)</span>', browser.get("/personalization").text)
    assert sorted(outcomes) == [("partial", "abandonment"), ("success", "completion"), ("success", "conversion")]


def test_decisions_with_context_are_compared_with_those_without(browser: FlaskClient, company: Company) -> None:
    for variant in ("a", "b"):
        for number in range(10):
            decide(company, variant, "conversion" if number < 8 else "dismissal", signals=2)
            decide(company, variant, "conversion" if number < 5 else "dismissal", signals=0)
    text = page_text(browser)
    assert (
        "with context 80 % 16 of 20, 58 to 92 % 20 of 20 +30 points +1 to +53 points 16 conversion, 4 dismissal" in text
    )
    assert "without context 50 % 10 of 20, 30 to 70 % 20 of 20 baseline 10 conversion, 10 dismissal" in text
    assert "b, with context 80 % 8 of 10, 49 to 94 % 10 of 10 +30 points −11 to +60 points" in text


def test_another_variant_can_be_the_baseline(browser: FlaskClient, company: Company) -> None:
    decide_often(company, "a", 9, 1)
    decide_often(company, "b", 3, 8)
    text = page_text(browser)
    assert "a 90 % 9 of 10, 60 to 98 % 10 of 10 +63 points" in text
    assert "b 27 % 3 of 11, 10 to 57 % 11 of 11 baseline" in text
    assert "Lift is the difference to the variant b," in text
    assert choices(browser) == [("", True, "b (most decisions)"), ("a", False, "a")]
    assert "a 90 % 9 of 10, 60 to 98 % 10 of 10 baseline" in page_text(browser, "?baseline=a")
    assert choices(browser, "?baseline=a") == [("", False, "b (most decisions)"), ("a", True, "a")]
    assert choices(browser, "?baseline=b") == choices(browser)
    assert "No decision of these days has the variant c." in page_text(browser, "?baseline=c")
    assert choices(browser, "?baseline=c")[-1] == ("c", True, "c")
    decide(company, None)
    assert "Lift is the difference to decisions without a variant," in page_text(browser)
    assert choices(browser) == [("", True, "no variant"), ("b", False, "b"), ("a", False, "a")]


def choices(browser: FlaskClient, query: str = "") -> list[tuple[str, bool, str]]:
    """Return the value, state and label of what the variants can be compared with."""
    select = re.search(r'<select id="baseline".*?</select>', browser.get(f"/personalization{query}").text)
    assert select
    options = re.findall('<option value="([^"]*)"( selected)?>([^<]*)<', select[0])
    return [(value, bool(selected), label) for value, selected, label in options]


def test_the_filters_of_figures_and_list_carry_each_other(browser: FlaskClient, company: Company) -> None:
    decide(company, "a", "conversion")
    page = browser.get(
        f"/personalization?days=30&purpose={PERSONALIZATION}&baseline=a&variant=a&outcome=conversion"
    ).text
    forms = re.findall(r'<form class="filters" method="get">(.*?)</form>', page, re.DOTALL)
    scope = ["environment", "days"]
    assert [re.findall(r'<input type="hidden" name="(\w+)"', form) for form in forms] == [
        [*scope, "variant", "outcome"],
        [*scope, "purpose", "baseline"],
    ]
    clear = [unescape(link) for link in re.findall('href="([^"]*)">Clear<', page)]
    assert [link.partition("days=30")[2] for link in clear] == [
        "&variant=a&outcome=conversion",
        f"&purpose={PERSONALIZATION}&baseline=a",
    ]


def test_only_the_newest_decisions_are_counted_and_the_page_says_so(
    browser: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(company, "old", age=timedelta(hours=1))
    decide(company, "new")
    assert "All figures are over the newest" not in page_text(browser)
    monkeypatch.setattr(queries, "COUNTED_DECISIONS", 1)
    monkeypatch.setattr(personalization, "COUNTED_DECISIONS", 1)
    text = page_text(browser)
    assert "All figures are over the newest 1 decisions of these days." in text
    assert "new – 0 of 1" in text
    assert "old – 0 of 1" not in text


def test_the_newest_decisions_are_looked_at_whatever_their_purpose(
    browser: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "COUNTED_DECISIONS", 3)
    monkeypatch.setattr(personalization, "COUNTED_DECISIONS", 3)
    decide(company, "old", "conversion", purpose=ADVERTISING, age=timedelta(hours=2))
    decide(company, "new", "conversion", purpose=ADVERTISING, age=timedelta(hours=1))
    for _ in range(2):
        decide(company, "other")
    text = page_text(browser, f"?purpose={ADVERTISING}")
    assert "All figures are over the newest 3 decisions of these days, of those with this purpose." in text
    assert "new – 1 of 1 1 of 1" in text
    assert "old – 1 of 1 1 of 1" not in text
    decide(company, "other")
    text = page_text(browser, f"?purpose={ADVERTISING}")
    assert "None of the newest 3 decisions of these days has this purpose, so there are no figures." in text
    assert "Variants" not in text


def test_filters_are_the_purpose_the_variant_and_the_outcome(browser: FlaskClient, company: Company) -> None:
    first = decide(company, "a", "conversion")
    second = decide(company, "b", "dismissal", purpose=ADVERTISING)
    third = decide(company, "a", age=timedelta(days=20))

    def found(query: str) -> set[str]:
        return set(external_ids(browser.get(f"/personalization{query}").text))

    assert found("") == {first, second}
    assert found("?days=30") == {first, second, third}
    assert found("?variant=a") == {first}
    assert found("?outcome=dismissal") == {second}
    assert found(f"?purpose={ADVERTISING}") == {second}
    assert found("?variant=a&outcome=dismissal") == set()
    assert "None of the decisions of these days has what the filters ask for." in page_text(browser, "?variant=other")
    assert "a – 1 of 1 1 of 1" not in page_text(browser, f"?purpose={ADVERTISING}")
    assert browser.get("/personalization?purpose=other").status_code == 422


def test_the_next_page_continues_the_list(
    browser: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personalization, "list_page", partial(list_page, size=2))
    ids = [decide(company, "a", age=timedelta(minutes=number)) for number in range(5)]
    path, found = "/personalization?variant=a", []
    while path:
        page = browser.get(path).text
        found += external_ids(page)
        match = re.search(r'<a rel="next" href="([^"]*)"', page)
        path = unescape(match[1]) if match else ""
    assert found == ids


def test_exports_have_each_decision_with_its_outcome(browser: FlaskClient, company: Company) -> None:
    first = decide(company, "a", "conversion")
    decide(company, "b")
    page = browser.get("/personalization?variant=a&baseline=b").text
    paths = [unescape(path) for path in re.findall(r'href="([^"]*/export[^"]*)"', page)]
    assert [path.partition("?")[0] for path in paths] == [
        "/personalization/export.csv",
        "/personalization/export.ndjson",
    ]
    (item,) = export(browser, paths[1])
    assert (item["externalDecisionId"], item["variant"], item["outcome"]) == (first, "a", "conversion")
    assert len(item["signalIds"]) == 1
    (row,) = export_csv(browser, paths[0])
    assert (row["externalDecisionId"], row["outcome"], row["purpose"]) == (first, "conversion", PERSONALIZATION)
    assert {item["outcome"] for item in export(browser, "/personalization/export.ndjson")} == {"conversion", None}


def test_a_cell_that_could_be_a_formula_gets_an_apostrophe(browser: FlaskClient, company: Company) -> None:
    decide(company, "=cmd()")
    assert [row["variant"] for row in export_csv(browser, "/personalization/export.csv")] == ["'=cmd()"]
    assert [item["variant"] for item in export(browser, "/personalization/export.ndjson")] == ["=cmd()"]


def test_hostile_variants_are_escaped(browser: FlaskClient, company: Company) -> None:
    decide(company, HOSTILE)
    page = browser.get("/personalization", query_string={"baseline": HOSTILE}).text
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") >= 3
    assert HOSTILE not in page


def test_decisions_of_other_products_count_for_nothing(browser: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    theirs = decide(other_company, "theirs", "conversion")
    page = browser.get("/personalization").text
    assert theirs not in page
    assert "No decision yet" in page
    assert "With and without context" not in page
    assert browser.get(f"/personalization?environment={other_company.environment_id}").status_code == 404


def test_the_page_takes_as_many_statements_for_many_decisions_as_for_one(
    browser: FlaskClient, company: Company
) -> None:
    decide(company, "a", "conversion")
    count = count_statements(browser, "/personalization")
    for number in range(8):
        decide(company, f"b{number}", "conversion", "dismissal")
    assert count_statements(browser, "/personalization") == count <= 8
