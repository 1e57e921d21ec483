"""The pages of sessions."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient

from app.core.database import pages, transaction
from app.interactions import session_queries
from app.telemetry import persistence
from tests.dashboard.history import words
from tests.dashboard.lists import download, walk
from tests.factories import create_company, event, send_events
from tests.reading.fixtures import NOW, Reader

MINUTE = timedelta(minutes=1)
LINK = r'<th scope="row"><a href="[^"]*">([^<]*)</a>'


def show(client: FlaskClient, **key: str) -> Any:
    return client.get(f"/sessions/one?{urlencode(key)}")


def test_sessions_are_listed_by_when_they_were_last_seen(signed_in: FlaskClient, reader: Reader) -> None:
    for number in range(60):
        reader.store_session(number * MINUTE, ref=f"visit_{number}")
    assert walk(signed_in, "/sessions", LINK) == [f"visit_{number}" for number in range(60)]


def test_sessions_of_one_instant_are_each_on_one_page(signed_in: FlaskClient, reader: Reader) -> None:
    for number in range(60):
        reader.store_session(ref=f"visit_{number}")
    found = walk(signed_in, "/sessions", LINK)
    assert sorted(found) == sorted(f"visit_{number}" for number in range(60))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("source=mcp", ["b"]),
        ("customer_ref=cust_1", ["a"]),
        ("customer_ref=cust", []),
        ("ref=b", ["b"]),
        ("source=mcp&customer_ref=cust_1", []),
        ("days=7", ["a", "b"]),
        ("days=14", ["a", "b", "c"]),
    ],
)
def test_filters(signed_in: FlaskClient, reader: Reader, query: str, expected: list[str]) -> None:
    reader.store_session(MINUTE, ref="a", customer_ref="cust_1")
    reader.store_session(2 * MINUTE, ref="b", source="mcp", customer_ref="cust_2")
    reader.store_session(timedelta(days=8), ref="c")
    assert walk(signed_in, f"/sessions?{query}", LINK) == expected


@pytest.mark.parametrize("file_format", ["csv", "ndjson"])
def test_an_export_has_the_filters_of_its_page(signed_in: FlaskClient, reader: Reader, file_format: str) -> None:
    reader.store_session(ref="a", customer_ref="-cust")
    reader.store_session(ref="b")
    (row,) = download(signed_in, "/sessions?customer_ref=-cust", file_format)
    assert (row["ref"], row["source"]) == ("a", "customer")
    assert row["customerRef"] == ("'-cust" if file_format == "csv" else "-cust")


def test_a_session_has_the_interactions_that_telemetry_has_named_it_with(
    signed_in: FlaskClient, reader: Reader
) -> None:
    events = [event(sessionRef="visit_1", sessionSource="customer", customerRef="cust_1") for _ in range(3)]
    further = [event(sessionRef="visit_1", sessionSource="mcp"), event(sessionRef="visit_1"), event()]
    send_events(signed_in, reader.company, *events, *further)
    persistence.persist_waiting_batches()
    assert walk(signed_in, "/sessions", LINK) == ["visit_1"] * 3
    text = show(signed_in, ref="visit_1", source="customer", customer_ref="cust_1").text
    ids = re.findall(r"<code>([0-9a-f-]{36})</code>", text)
    assert sorted(ids) == sorted(entry["interactionId"] for entry in events)
    for entry, key in zip(further, ({"ref": "visit_1", "source": "mcp"}, {"ref": "visit_1"}), strict=False):
        assert re.findall(r"<code>([0-9a-f-]{36})</code>", show(signed_in, **key).text) == [entry["interactionId"]]


def test_the_interactions_of_a_session_are_in_order_with_their_outcomes(
    signed_in: FlaskClient, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each page looks at few rows of a busy time, and the whole session is found all the same.
    monkeypatch.setattr(pages, "SCAN_LIMIT", 60)
    reader.store_session(0 * MINUTE, first_seen_at=NOW - 100 * MINUTE)
    key = {"session_ref": "visit_1", "session_source": "customer"}
    ids = [
        reader.store_interaction(age * MINUTE, **key, outcome=outcome) for age, outcome in ((99, "failure"), (1, None))
    ]
    for number in range(2, 90):
        reader.store_interaction(number * MINUTE)
    path = "/sessions/one?ref=visit_1&source=customer"
    assert walk(signed_in, path, r"<code>([0-9a-f-]{36})</code>") == [str(interaction_id) for interaction_id in ids]
    assert '<span class="badge failure">' in signed_in.get(path).text
    assert [row["outcome"] for row in download(signed_in, path, "ndjson")] == ["failure", None]


def test_the_list_counts_the_interactions_and_outcomes_of_each_session(
    signed_in: FlaskClient, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.store_session(0 * MINUTE, first_seen_at=NOW - 3 * MINUTE)
    reader.store_session(MINUTE, first_seen_at=NOW - MINUTE, customer_ref="cust_1")
    key = {"session_ref": "visit_1", "session_source": "customer"}
    for outcome in ("success", "failure", "failure", None):
        reader.store_interaction(MINUTE, **key, outcome=outcome)
    reader.store_interaction(MINUTE, **key, customer_ref="cust_1")
    reader.store_interaction(MINUTE, session_ref="visit_1", outcome="partial")
    with transaction():
        reader.store_interaction(MINUTE, **key, environment_id=create_company().environment_id)
    text = words(signed_in.get("/sessions").text)
    assert "visit_1 customer – 4 1 success 2 failure " in text
    assert "UTC 3 min visit_1 customer cust_1 1 not reviewed " in text
    assert "UTC under 1 min" in text
    monkeypatch.setattr(session_queries, "COUNTED_INTERACTIONS", 14)
    assert "visit_1 customer – 4 or more " not in words(signed_in.get("/sessions").text)
    monkeypatch.setattr(session_queries, "COUNTED_INTERACTIONS", 2)
    assert re.search("visit_1 customer – [01] or more ", words(signed_in.get("/sessions").text))


def test_a_session_of_others_and_an_unknown_one_are_not_found(signed_in: FlaskClient, reader: Reader) -> None:
    with transaction():
        other_company = create_company()
    reader.store_session(environment_id=other_company.environment_id)
    assert show(signed_in, ref="visit_1", source="customer").status_code == 404
    assert show(signed_in, ref="a%00").status_code == 404
    assert show(signed_in).status_code == 404
    assert signed_in.get("/sessions").text.count("visit_1") == 0


def test_what_products_write_is_escaped(signed_in: FlaskClient, reader: Reader) -> None:
    reader.store_session(ref="<script>ref", customer_ref="<script>customer")
    reader.store_interaction(session_ref="<script>ref", session_source="customer", customer_ref="<script>customer")
    pages = [
        signed_in.get("/sessions").text,
        show(signed_in, ref="<script>ref", source="customer", customer_ref="<script>customer").text,
    ]
    for page in pages:
        assert "&lt;script&gt;ref" in page
        assert not re.search(r"<script(?! src)", page)


def test_empty_lists_say_what_to_do(signed_in: FlaskClient) -> None:
    assert "Set it up" in signed_in.get("/sessions").text
    assert "has what the filters ask for" in signed_in.get("/sessions?source=mcp").text
