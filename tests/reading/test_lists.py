"""Reviews, reports and interactions by pages."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient

from app.core.database import pages, transaction
from app.interactions import service as interactions
from app.products import service as products
from app.telemetry import persistence
from tests.factories import Company, bearer, create_company, create_read_key, event, send_events, send_review
from tests.reading.fixtures import NOW, Reader
from tests.reports.test_reports import FULL_REPORT

LISTS = ("reviews", "reports", "interactions", "operations")
MINUTE = timedelta(minutes=1)


def send_everything(client: FlaskClient, company: Company) -> str:
    """Send telemetry, a review and a report of one interaction, run their jobs, and return its id."""
    interaction = event(customerRef="account_1", sessionRef="visit_1", statusCode=200, durationMs=12.5)
    interaction_id: str = interaction["interactionId"]
    capability = company.capability(interaction_id)
    send_events(client, company, interaction)
    send_review(client, capability, "partial", "Half of the orders were there.")
    client.post("/api/v2/reports", json=FULL_REPORT, headers=bearer(capability))
    persistence.persist_waiting_batches()
    interactions.promote_queued_interactions()
    return interaction_id


def test_a_review_is_listed_with_what_it_is_about(reader: Reader, client: FlaskClient, company: Company) -> None:
    interaction_id = send_everything(client, company)
    response = reader.get("reviews")
    assert response.headers["Cache-Control"] == "private, no-store"
    (review,) = response.json["items"]
    assert response.json == {"items": [review], "nextCursor": None}
    assert uuid.UUID(review.pop("id"))
    assert review.pop("createdAt")
    assert review == {
        "interactionId": interaction_id,
        "outcome": "partial",
        "note": "Half of the orders were there.",
        "operation": "/orders/:id",
        "surface": "http_json",
        "source": "capability",
    }


def test_a_review_without_telemetry_says_so(reader: Reader) -> None:
    reader.store_review()
    (review,) = reader.items("reviews")
    assert (review["operation"], review["surface"]) == ("pending", "unknown")


def test_an_interaction_is_shown_with_its_review_and_report(
    reader: Reader, client: FlaskClient, company: Company
) -> None:
    interaction_id = send_everything(client, company)
    detail = reader.get(f"interactions/{interaction_id}").json
    (interaction,), (review,), (report,) = (reader.items(name) for name in ("interactions", "reviews", "reports"))
    assert detail == {"interaction": interaction, "review": review, "report": report}
    assert (interaction["customerRef"], interaction["sessionRef"], interaction["durationMs"]) == (
        "account_1",
        "visit_1",
        12.5,
    )
    assert (interaction["classification"], interaction["confirmationMethod"]) == ("confirmed", "review")
    assert report["findings"]
    assert reader.get(f"reports/{report['id']}").json == {"report": report, "interaction": interaction}


def test_what_is_not_there_is_not_found(reader: Reader) -> None:
    for path in ("reports", "interactions"):
        assert reader.get(f"{path}/{uuid.uuid4()}").status_code == 404
        assert reader.get(f"{path}/nonsense").status_code == 404


@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_pages_together_are_the_list_also_with_equal_times(reader: Reader, order: str) -> None:
    ids = [str(reader.store_review(MINUTE * (number // 3))) for number in range(3, 24)]
    sizes, listed = [], []
    for page in reader.pages("reviews", limit=5, order=order):
        sizes.append(len(page["items"]))
        listed += [(item["createdAt"], item["interactionId"]) for item in page["items"]]
    assert sizes == [5, 5, 5, 5, 1]
    assert listed == sorted(listed, reverse=order == "newest")
    assert sorted(id_ for _, id_ in listed) == sorted(ids)


def test_a_list_that_ends_with_its_page_has_no_further_one(reader: Reader) -> None:
    for _ in range(2):
        reader.store_review()
    assert [len(page["items"]) for page in reader.pages("reviews", limit=2)] == [2]


def test_what_arrives_meanwhile_moves_no_page(reader: Reader) -> None:
    ids = [str(reader.store_review(MINUTE * number)) for number in range(1, 7)]
    pages_read = reader.pages("reviews", limit=2)
    listed = next(pages_read)["items"]
    reader.store_review(timedelta(0))
    listed += [item for page in pages_read for item in page["items"]]
    assert [item["interactionId"] for item in listed] == ids


def test_a_rare_match_is_found_by_pages_that_cost_the_same(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "SCAN_LIMIT", 6)
    for number in range(1, 21):
        reader.store_review(MINUTE * number, outcome="failure" if number in (13, 20) else "success")
    found = list(reader.pages("reviews", outcome="failure", limit=4))
    assert [len(page["items"]) for page in found] == [0, 0, 1, 1]


def test_reviews_can_be_filtered(reader: Reader) -> None:
    ids = {
        (outcome, surface, operation): reader.store_review(
            interaction_id=reader.store_interaction(surface=surface, operation=operation), outcome=outcome
        )
        for outcome in ("success", "failure")
        for surface in ("mcp", "http_json")
        for operation in ("find", "/orders")
    }
    for query in (
        {"outcome": "failure"},
        {"surface": "mcp"},
        {"operation": "/orders"},
        {"outcome": "success", "surface": "mcp", "operation": "find"},
    ):
        listed = {item["interactionId"] for item in reader.items("reviews", **query)}
        assert listed == {str(id_) for key, id_ in ids.items() if set(query.values()) <= set(key)}


def test_interactions_can_be_filtered(reader: Reader) -> None:
    confirmed_id = reader.store_interaction(classification="confirmed")
    mcp_id = reader.store_interaction(surface="mcp", operation="find")

    def listed(**query: str) -> set[str]:
        return {item["interactionId"] for item in reader.items("interactions", **query)}

    assert listed(classification="confirmed") == {str(confirmed_id)}
    assert listed(surface="mcp") == listed(operation="find") == {str(mcp_id)}


def test_reports_can_be_filtered_by_impact(reader: Reader, client: FlaskClient, company: Company) -> None:
    send_everything(client, company)
    assert len(reader.items("reports", impact=FULL_REPORT["impact"])) == 1
    assert reader.items("reports", impact="blocked" if FULL_REPORT["impact"] != "blocked" else "helped") == []


def test_since_is_included_and_until_is_not(reader: Reader) -> None:
    first, second, third = (str(reader.store_review(MINUTE * number)) for number in (3, 2, 1))
    since, until = (NOW - MINUTE * 3).isoformat(), (NOW - MINUTE).isoformat()
    assert [item["interactionId"] for item in reader.items("reviews", since=since, until=until)] == [second, first]
    assert [item["interactionId"] for item in reader.items("reviews", since=until)] == [third]


def test_what_is_past_its_retention_is_not_shown_before_it_is_removed(reader: Reader, company: Company) -> None:
    with transaction():
        products.set_environment(company.environment_id, retention_days=1)
    for age in (timedelta(hours=23), timedelta(hours=25)):
        reader.store_review(age, interaction_id=reader.store_interaction(age))
    for name in ("reviews", "interactions"):
        for order in ("newest", "oldest"):
            assert len(reader.items(name, order=order)) == 1
    old_id = reader.store_interaction(timedelta(hours=25))
    assert reader.get(f"interactions/{old_id}").status_code == 404


def test_oldest_first_ends_before_what_may_still_appear_in_front(
    reader: Reader, client: FlaskClient, company: Company
) -> None:
    settled_id = str(reader.store_interaction())
    reader.store_review(MINUTE)
    reader.store_review(created_at=datetime.now(UTC))
    assert len(reader.items("reviews", order="oldest")) == 1
    # A batch waits for its job: what arrived after it is not settled either.
    reader.store_interaction(MINUTE)
    assert len(reader.items("interactions", order="oldest")) == 2
    send_events(client, company, event())
    _age_inbox(MINUTE * 2)
    assert [item["interactionId"] for item in reader.items("interactions", order="oldest")] == [settled_id]
    persistence.persist_waiting_batches()
    assert len(reader.items("interactions", order="oldest")) == 3


def _age_inbox(age: timedelta) -> None:
    with transaction():
        pages.session().execute(pages.text("UPDATE telemetry_inbox SET received_at = :at"), {"at": NOW - age})


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"limit": 0}, "/limit"),
        ({"limit": 201}, "/limit"),
        ({"limit": "many"}, "/limit"),
        ({"cursor": ""}, "/cursor"),
        ({"environment": "x"}, "/environment"),
        ({"surface": "fax"}, "/surface"),
    ],
)
def test_a_wrong_query_is_named(reader: Reader, path: str, query: dict[str, object], pointer: str) -> None:
    response = reader.get(path, **query)
    assert (response.status_code, [problem["pointer"] for problem in response.json["errors"]]) == (422, [pointer])


@pytest.mark.parametrize("path", LISTS)
def test_other_keys_are_refused_with_a_sentence(client: FlaskClient, company: Company, path: str) -> None:
    for token in (company.product_key, company.company_key, company.capability(), "af_read_" + "0" * 76):
        response = client.get(f"/api/v2/{path}", headers=bearer(token))
        assert (response.status_code, "af_read_" in response.json["error"]) == (401, True)


def test_a_page_of_another_company_is_its_own(reader: Reader) -> None:
    with transaction():
        other_company = create_company()
    other = Reader(reader.client, other_company, create_read_key(other_company.environment_id))
    interaction_id = other.store_review(interaction_id=other.store_interaction())
    # An interaction of the same id in both: neither sees the other's operation.
    reader.store_review(interaction_id=interaction_id)
    (review,) = reader.items("reviews")
    assert (review["operation"], reader.items("interactions")) == ("pending", [])
    assert reader.get(f"interactions/{interaction_id}").status_code == 404
    assert other.get(f"interactions/{interaction_id}").status_code == 200
    assert json.dumps(other.items("reviews")).count("/orders/:id") == 1
