"""The pages of interactions."""

import re
import uuid
from datetime import timedelta
from html import escape

import pytest
from flask.testing import FlaskClient

from app.core.database import transaction
from app.dashboard import operation_filter
from app.interactions import service as interactions
from app.products import service as products
from app.products.rules import Mode
from app.telemetry import persistence
from tests.consent.test_consent import SUBJECT
from tests.context_api import ContextApi, item
from tests.dashboard.history import HOSTILE, count_day, words
from tests.dashboard.lists import download, walk
from tests.factories import bearer, create_company, event, send_events, send_review
from tests.reading.fixtures import NOW, Reader

MINUTE = timedelta(minutes=1)
LINK = r'<th scope="row"><a href="[^"]*/interactions/([0-9a-f-]{36})'


def moments(page: str) -> list[str]:
    """Return the titles of a timeline, in order."""
    timeline = re.search(r'<ol class="timeline">(.*?)</ol>', page, re.DOTALL)
    assert timeline
    return re.findall(r"<strong>(?:<a [^>]*>)?([^<]+)<", timeline[1])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"plain", "failed", "of a customer"}),
        ("status=5xx", {"failed"}),
        ("status=2xx", {"plain"}),
        ("outcome=failure", {"failed"}),
        ("customer_ref=cust_1", {"of a customer"}),
        ("classification=confirmed", {"failed"}),
        ("operation=/search", {"of a customer"}),
        ("surface=mcp", {"failed"}),
    ],
)
def test_filters(signed_in: FlaskClient, reader: Reader, query: str, expected: set[str]) -> None:
    names = {
        reader.store_interaction(status_code=204): "plain",
        reader.store_interaction(
            status_code=503, outcome="failure", classification="confirmed", surface="mcp"
        ): "failed",
        reader.store_interaction(customer_ref="cust_1", operation="/search"): "of a customer",
    }
    assert {names[uuid.UUID(text)] for text in walk(signed_in, f"/interactions?{query}", LINK)} == expected


@pytest.mark.parametrize("path", ["/interactions", "/feedback"])
def test_the_filter_for_an_operation_offers_those_of_the_days(
    signed_in: FlaskClient, reader: Reader, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count_day(reader.company, "/orders", 3)
    count_day(reader.company, HOSTILE, 5)
    count_day(reader.company, "/carts", 9, days_ago=7)
    with transaction():
        count_day(create_company(), "/theirs", 9)
    page = signed_in.get(path).text
    assert re.search('<input[^>]* list="operation-names"[^>]* name="operation"', page)
    assert re.findall('<option value="([^"]*)"></option>', page) == [escape(HOSTILE), "/orders"]
    monkeypatch.setattr(operation_filter, "MAX_NAMES", 1)
    assert signed_in.get(path).text.count("></option>") == 1


def test_each_interaction_is_on_one_page(signed_in: FlaskClient, reader: Reader) -> None:
    ids = [str(reader.store_interaction(number * MINUTE)) for number in range(60)]
    assert walk(signed_in, "/interactions", LINK) == ids


def test_an_outcome_is_that_of_the_review_alone(signed_in: FlaskClient, reader: Reader) -> None:
    reader.store_session(ref="visit_1")
    session = {"session_ref": "visit_1", "session_source": "customer", "classification": "confirmed"}
    reader.store_interaction(operation="/reported", **session)
    reader.store_interaction(operation="/reviewed", outcome="success", **session)
    for path in ("/interactions", "/sessions/one?ref=visit_1&source=customer"):
        text = words(signed_in.get(path).text)
        assert re.search(r"/reported (HTTP, JSON )?not reviewed confirmed – –", text)
        assert re.search(r"/reviewed (HTTP, JSON )?success confirmed – –", text)


@pytest.mark.parametrize("file_format", ["csv", "ndjson"])
def test_an_export_has_the_filters_of_its_page(signed_in: FlaskClient, reader: Reader, file_format: str) -> None:
    interaction_id = reader.store_interaction(outcome="failure", status_code=500, operation="=cmd")
    reader.store_interaction()
    (row,) = download(signed_in, "/interactions?status=5xx", file_format)
    assert (row["interactionId"], row["outcome"]) == (str(interaction_id), "failure")
    assert row["operation"] == ("'=cmd" if file_format == "csv" else "=cmd")


def test_a_timeline_has_everything_in_order(signed_in: FlaskClient, reader: Reader, context_api: ContextApi) -> None:
    company, interaction_id = reader.company, str(uuid.uuid4())
    with transaction():
        products.set_environment(company.environment_id, mode=Mode.ASK_ONCE)
    token = company.capability(interaction_id, subject=SUBJECT)
    send_events(signed_in, company, event(interaction_id))
    persistence.persist_waiting_batches()
    signed_in.post("/api/v2/consent/decisions", json={"decision": "approved"}, headers=bearer(token))
    context_api.put_field("content.format", allowedValues=["audio"])
    question = context_api.ask(userRef="u1", interactionId=interaction_id).json
    context_api.answer(question, item("content.format", "audio", remember=True))
    context_api.retrieve(userRef="u1")
    assert send_review(signed_in, token, note="A note about the answer.").status_code == 200
    signed_in.post("/api/v2/reports", json={"summary": "A longer story."}, headers=bearer(token))
    interactions.promote_queued_interactions()
    page = signed_in.get(f"/interactions/{interaction_id}").text
    assert moments(page)[:2] == ["The product answered", "It arrived here"]
    assert set(moments(page)) >= {
        "The company asked for context",
        "An agent answered with context",
        "The company read this customer&#39;s context",
        "Consent was decided",
        "It was confirmed",
        "An agent reviewed it",
        "An agent reported on it",
    }
    feedback = [title for title in moments(page) if title.startswith(("The company asked", "An agent re"))]
    assert feedback == ["The company asked for context", "An agent reviewed it", "An agent reported on it"]
    assert "content.format: audio" in page
    assert f"/feedback/review/{interaction_id}" in page
    assert f"/feedback/report/{interaction_id}" in page


def test_the_session_of_an_interaction_is_linked(signed_in: FlaskClient, reader: Reader) -> None:
    reader.store_session(MINUTE, first_seen_at=NOW - 10 * MINUTE)
    ids = [
        reader.store_interaction(age * MINUTE, session_ref="visit_1", session_source="customer") for age in (9, 5, 1)
    ]
    page = signed_in.get(f"/interactions/{ids[1]}").text
    assert re.findall(LINK, page) == [str(interaction_id) for interaction_id in ids]
    assert "/sessions/one?" in page


def test_what_products_write_is_escaped(signed_in: FlaskClient, reader: Reader) -> None:
    interaction_id = reader.store_interaction(
        operation="<script>operation",
        customer_ref="<script>customer",
        runtime_hint="<script>hint",
        session_ref="<script>",
    )
    for path in ("/interactions", f"/interactions/{interaction_id}"):
        page = signed_in.get(path).text
        assert "&lt;script&gt;operation" in page
        assert not re.search(r"<script(?! src)", page)


def test_an_interaction_of_others_is_not_found(signed_in: FlaskClient, reader: Reader) -> None:
    with transaction():
        other_company = create_company()
    interaction_id = reader.store_interaction(environment_id=other_company.environment_id)
    assert signed_in.get(f"/interactions/{interaction_id}").status_code == 404


@pytest.mark.parametrize("path", ["/interactions/{}", "/feedback/review/{}"])
def test_an_address_without_an_environment_leads_to_the_one_that_has_the_interaction(
    signed_in: FlaskClient, reader: Reader, path: str
) -> None:
    with transaction():
        other_id = products.create_environment(reader.company.product_id, "staging").id
    interaction_id = reader.store_interaction(environment_id=other_id)
    reader.store_review(interaction_id=interaction_id, environment_id=other_id)
    path = path.format(interaction_id)
    response = signed_in.get(f"{path}?days=30")
    assert (response.status_code, f"environment={other_id}" in response.location) == (302, True)
    assert "days=30" in response.location
    assert signed_in.get(response.location).status_code == 200
    assert signed_in.get(f"{path}?environment={reader.company.environment_id}").status_code == 404
    with transaction():
        stranger = create_company()
    foreign_id = reader.store_interaction(environment_id=stranger.environment_id)
    assert signed_in.get(f"/interactions/{foreign_id}").status_code == 404


def test_an_empty_list_says_what_to_do(signed_in: FlaskClient) -> None:
    assert "Set it up" in signed_in.get("/interactions").text
    assert "has what the filters ask for" in signed_in.get("/interactions?status=5xx").text
