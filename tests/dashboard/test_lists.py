"""Lists of pages: filters in the address, keyset pages, and exports."""

import csv
import io
import json
import re
import uuid
from datetime import timedelta
from html import unescape

import pytest
from flask.testing import FlaskClient

from app.accounts import queries as accounts
from app.core.database import pages
from app.core.errors import Unprocessable
from app.dashboard import feedback_filters, lists
from tests.dashboard.history import count_statements
from tests.factories import Company, sign_in
from tests.reading.fixtures import Reader
from tests.triage.actions import triage

COUNT = re.compile('<p class="quiet count">([^<]*)</p>')


@pytest.fixture
def rows(client: FlaskClient, company: Company) -> Reader:
    sign_in(client, company)
    return Reader(client, company, "")


def shown_ids(text: str) -> list[str]:
    return re.findall(r"<code>([0-9a-f-]{36})</code></a>", text)


def next_path(text: str) -> str | None:
    links = re.findall(r'<a rel="next" href="([^"]+)"', text)
    return unescape(links[0]) if links else None


def test_pages_follow_each_other_and_show_each_row_once(
    client: FlaskClient, rows: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists.list_page, "__kwdefaults__", {"size": 3, "export": "export"})
    ids = [str(rows.store_interaction(timedelta(minutes=minute))) for minute in range(8)]
    path, seen, pages = "/interactions", [], 0
    while path:
        text = client.get(path).text
        seen += shown_ids(text)
        pages += 1
        path = next_path(text) or ""
        assert not re.search("page=|offset", path)
    assert (seen, pages) == (ids, 3)


def test_a_filter_is_part_of_every_address(client: FlaskClient, rows: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists.list_page, "__kwdefaults__", {"size": 1, "export": "export"})
    wanted = [str(rows.store_interaction(timedelta(minutes=minute), operation="/search")) for minute in (1, 3)]
    rows.store_interaction(timedelta(minutes=2))
    first = client.get("/interactions?operation=/search").text
    second = client.get(next_path(first) or "").text
    assert [*shown_ids(first), *shown_ids(second)] == wanted
    assert "operation=/search" in (next_path(first) or "")
    assert re.search(r'href="/interactions/export.csv\?[^"]*operation=/search', first)


def test_only_the_chosen_days_are_listed(client: FlaskClient, rows: Reader) -> None:
    recent, old = rows.store_interaction(timedelta(days=2)), rows.store_interaction(timedelta(days=20))
    assert shown_ids(client.get("/interactions").text) == [str(recent)]
    assert shown_ids(client.get("/interactions?days=30").text) == [str(recent), str(old)]


@pytest.mark.parametrize("query", ["surface=nonsense", "classification=x", f"operation={'x' * 2000}"])
def test_a_filter_that_is_not_understood_is_named(client: FlaskClient, rows: Reader, query: str) -> None:
    answer = client.get(f"/interactions?{query}")
    assert answer.status_code == 422
    assert query.partition("=")[0] in answer.text


@pytest.mark.parametrize("place", ["nonsense", "WyJhIl0", "", "é"])
def test_a_place_that_is_none_is_rejected(client: FlaskClient, rows: Reader, place: str) -> None:
    assert client.get("/interactions", query_string={"after": place}).status_code == 422


def test_a_place_of_other_filters_is_rejected(
    client: FlaskClient, rows: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists.list_page, "__kwdefaults__", {"size": 1, "export": "export"})
    for _ in range(2):
        rows.store_interaction()
    path = next_path(client.get("/interactions").text) or ""
    assert client.get(path).status_code == 200
    assert client.get(f"{path}&surface=mcp").status_code == 422


@pytest.mark.parametrize("batch_size", [1, 1000])
def test_exports_have_all_rows_of_the_filters(
    client: FlaskClient, rows: Reader, monkeypatch: pytest.MonkeyPatch, batch_size: int
) -> None:
    monkeypatch.setattr(lists, "EXPORT_BATCH_SIZE", batch_size)
    ids = [str(rows.store_interaction(timedelta(minutes=minute), operation="=cmd()")) for minute in range(3)]
    rows.store_interaction()
    table = client.get("/interactions/export.csv?operation==cmd()")
    lines = list(csv.DictReader(io.StringIO(table.text)))
    assert [line["interactionId"] for line in lines] == ids
    assert {line["operation"] for line in lines} == {"'=cmd()"}
    entries = [
        json.loads(line) for line in client.get("/interactions/export.ndjson?operation==cmd()").text.splitlines()
    ]
    assert [entry["interactionId"] for entry in entries] == ids
    assert {entry["operation"] for entry in entries} == {"=cmd()"}


def test_what_goes_wrong_before_an_export_begins_is_an_error(
    client: FlaskClient, rows: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Unprocessable("Not that.")

    monkeypatch.setattr(feedback_filters, "list_feedback", refuse)
    answer = client.get("/feedback/export.csv")
    assert (answer.status_code, "Not that." in answer.text) == (422, True)


def test_an_export_is_a_private_download(client: FlaskClient, rows: Reader) -> None:
    for name, mimetype in (("csv", "text/csv"), ("ndjson", "application/x-ndjson")):
        answer = client.get(f"/interactions/export.{name}")
        assert (answer.status_code, answer.mimetype) == (200, mimetype)
        assert answer.headers["Content-Disposition"] == f'attachment; filename="interactions.{name}"'
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "no-store" in answer.headers["Cache-Control"]


def test_an_empty_list_says_what_to_do_and_one_of_filters_that_there_is_nothing(
    client: FlaskClient, rows: Reader
) -> None:
    assert "No interaction yet" in client.get("/interactions").text
    assert "Nothing here" in client.get("/interactions?surface=mcp").text


def test_an_interaction_of_somebody_else_is_not_found(client: FlaskClient, rows: Reader) -> None:
    assert client.get(f"/interactions/{rows.store_interaction()}").status_code == 200
    assert client.get(f"/interactions/{uuid.uuid4()}").status_code == 404


@pytest.mark.parametrize("name", ["endpoint", "file_format", "_method", "_external", "_scheme", "_anchor", "values"])
def test_a_parameter_of_any_name_is_no_server_error(
    client: FlaskClient, rows: Reader, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(lists.list_page, "__kwdefaults__", {"size": 1, "export": "export"})
    for _ in range(2):
        rows.store_interaction()
    answer = client.get("/interactions", query_string={name: "PUT"})
    assert answer.status_code == 200
    assert (next_path(answer.text) or "").startswith("/interactions?")


@pytest.mark.parametrize("path", ["/interactions", "/sessions", "/feedback", "/audit"])
def test_a_list_says_how_many_rows_match_as_far_as_a_bounded_number_is_looked_at(
    client: FlaskClient, rows: Reader, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(lists.list_page, "__kwdefaults__", {"size": 2, "export": "export"})
    for number in range(3):
        interaction_id = rows.store_interaction(timedelta(minutes=number))
        rows.store_session(ref=f"visit_{number}")
        triage(rows.company, rows.store_review(interaction_id=interaction_id), "resolved")
    filters = {"/interactions": "surface=http_json", "/sessions": "source=customer", "/feedback": "kind=review"}
    things = {"/feedback": "reviews and reports", "/audit": "entries"}.get(path, path[1:])
    query = f"{path}?{filters.get(path, 'action=feedback')}"
    total = 3 if path != "/audit" else int(COUNT.findall(client.get(path).text)[0].split()[0])
    assert COUNT.findall(client.get(path).text) == [f"{total} {things}"]
    assert COUNT.findall(client.get(query).text) == [f"3 {things}"]
    assert COUNT.findall(client.get(next_path(client.get(query).text) or "").text) == [f"3 {things}"]
    for module in (pages, accounts):
        monkeypatch.setattr(module, "SCAN_LIMIT", 2)
    assert COUNT.findall(client.get(path).text) == [f"more than 2 {things}"]
    assert COUNT.findall(client.get(query).text) == [f"2 of the newest 2 {things}"]
    assert count_statements(client, query) <= 16
