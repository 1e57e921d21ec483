"""The list of feedback with its filters, search and exports, and the findings."""

import re
import uuid
from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from app.core.database import pages, transaction
from app.triage import queries
from tests.dashboard.lists import download, next_path, walk
from tests.factories import create_company
from tests.reading.fixtures import Reader
from tests.triage.actions import triage

MINUTE = timedelta(minutes=1)
LINK = r'class="note" href="[^"]*/feedback/(?:review|report)/([0-9a-f-]{36})'
HOSTILE = '=1+1 <script>alert("x")</script>'


def listed(client: FlaskClient, query: str = "") -> list[uuid.UUID]:
    """Return the ids of the interactions of a list, over all of its pages."""
    return [uuid.UUID(text) for text in walk(client, f"/feedback?{query}", LINK)]


def test_reviews_and_reports_are_one_list_with_the_newest_first(signed_in: FlaskClient, reader: Reader) -> None:
    ids = [
        reader.store_review(4 * MINUTE),
        reader.store_report(3 * MINUTE),
        reader.store_review(2 * MINUTE),
        reader.store_report(1 * MINUTE),
    ]
    assert listed(signed_in) == ids[::-1]


def test_each_is_on_one_page_also_where_a_page_ends_within_an_instant(signed_in: FlaskClient, reader: Reader) -> None:
    ids = [reader.store_review(MINUTE) for _ in range(30)] + [reader.store_report(MINUTE) for _ in range(30)]
    assert next_path(signed_in.get("/feedback").text)
    found = listed(signed_in)
    assert len(found) == 60
    assert set(found) == set(ids)


def test_what_is_older_than_the_days_is_not_listed(signed_in: FlaskClient, reader: Reader) -> None:
    reader.store_review(timedelta(days=8))
    assert listed(signed_in, "days=7") == []
    assert len(listed(signed_in, "days=14")) == 1


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("kind=review", {"success", "failure"}),
        ("kind=report", {"report"}),
        ("outcome=failure", {"failure"}),
        ("impact=blocked", {"report"}),
        ("operation=/search", {"failure"}),
        ("surface=mcp", {"failure"}),
        ("finding=friction", {"report"}),
        ("topic=pagination", {"report"}),
        ("finding=defect&topic=pagination", set()),
        ("outcome=failure&impact=blocked", set()),
        ("triage=resolved", {"success"}),
        ("triage=new", {"failure", "report"}),
        ("triage=new&outcome=failure", {"failure"}),
        ("triage=resolved&kind=report", set()),
        ("q=pages", {"failure", "report"}),
        ("q=pages&triage=resolved", set()),
        ("q=documented&triage=resolved", {"success"}),
    ],
)
def test_filters(signed_in: FlaskClient, reader: Reader, query: str, expected: set[str]) -> None:
    names = {
        reader.store_review(note="All as documented."): "success",
        reader.store_review(
            outcome="failure",
            note="No pages.",
            interaction_id=reader.store_interaction(operation="/search", surface="mcp"),
        ): "failure",
        reader.store_report(
            impact="blocked", summary="Too many pages.", findings=[{"kind": "friction", "topic": "pagination"}]
        ): "report",
    }
    triage(reader.company, next(iter(names)), "resolved")
    assert {names[interaction_id] for interaction_id in listed(signed_in, query)} == expected


def test_an_unknown_filter_value_is_refused(signed_in: FlaskClient) -> None:
    assert signed_in.get("/feedback?outcome=wonderful").status_code == 422


def test_all_words_have_to_be_in_a_note_which_an_index_finds_however_much_is_newer(
    signed_in: FlaskClient, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "FIRST_SCAN", 50)
    both = reader.store_review(99 * MINUTE, note="The Refund came late.")
    finding = {"kind": "friction", "topic": "refund", "detail": "It was late."}
    report = reader.store_report(98 * MINUTE, findings=[finding])
    reader.store_review(97 * MINUTE, note="The refund came at once.")
    reader.store_review(96 * MINUTE, note="Refunds: late")
    for number in range(60):
        reader.store_review(number * MINUTE)
    first_page = signed_in.get("/feedback?q=LATE+refund").text
    assert re.findall(LINK, first_page) == [str(report), str(both)]
    assert next_path(first_page) is None


def test_a_word_of_many_notes_is_found_by_pages(signed_in: FlaskClient, reader: Reader) -> None:
    ids = [reader.store_review(number * MINUTE, note="The refund came.") for number in range(60)]
    reader.store_review(30 * MINUTE)
    assert listed(signed_in, "q=refund") == ids


def test_words_that_many_rows_have_are_read_by_time_also_where_another_filter_drops_most(
    signed_in: FlaskClient, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "_BY_WORDS", None)
    monkeypatch.setattr(queries, "FIRST_SCAN", 20)
    monkeypatch.setattr(pages, "SCAN_LIMIT", 60)
    failure = reader.store_review(100 * MINUTE, outcome="failure")
    for number in range(70):
        reader.store_review(number * MINUTE)
    assert "The next page looks at older ones" in signed_in.get("/feedback?q=order&outcome=failure").text
    assert listed(signed_in, "q=order&outcome=failure") == [failure]
    (row,) = download(signed_in, "/feedback?q=order&outcome=failure", "csv")
    assert row["interactionId"] == str(failure)


@pytest.mark.parametrize("max_matches", [9, 10])
def test_older_rows_with_words_are_all_reached_by_an_index_that_reads_a_bounded_number(
    signed_in: FlaskClient, reader: Reader, monkeypatch: pytest.MonkeyPatch, max_matches: int
) -> None:
    monkeypatch.setattr(queries, "FIRST_SCAN", 20)
    monkeypatch.setattr(queries, "MAX_MATCHES", max_matches)
    monkeypatch.setattr(pages, "SCAN_LIMIT", 60)
    ids = [reader.store_review((100 + number) * MINUTE, note="The refund came.") for number in range(10)]
    for number in range(70):
        reader.store_review(number * MINUTE)
    first_page = signed_in.get("/feedback?q=refund").text
    assert len(re.findall(LINK, first_page)) == (10 if max_matches == 10 else 0)
    assert listed(signed_in, "q=refund") == ids


@pytest.mark.parametrize("words", ["!!!", "'", "%26|!<->", "a%00b", "%5C"])
def test_a_search_without_a_word_finds_nothing_and_breaks_nothing(
    signed_in: FlaskClient, reader: Reader, words: str
) -> None:
    reader.store_review()
    response = signed_in.get(f"/feedback?q={words}")
    assert response.status_code in (200, 422)
    assert re.findall(LINK, response.text) == []


@pytest.mark.parametrize(
    "words", ["orders", "items", "orders/items", "example", "api.example.com", "title", "delivery", "or"]
)
def test_words_beside_slashes_points_and_brackets_are_found(signed_in: FlaskClient, reader: Reader, words: str) -> None:
    text = "The path orders/items of api.example.com lacks a <title>, price-and/or delivery."
    ids = [reader.store_review(MINUTE, note=text)]
    finding = {"kind": "friction", "topic": "paths", "detail": 'C:\\new "quoted" 1.5 ' + text}
    ids.append(reader.store_report(2 * MINUTE, findings=[finding]))
    reader.store_review(3 * MINUTE)
    assert listed(signed_in, f"q={words}") == ids


def test_words_of_another_company_are_not_found(signed_in: FlaskClient, reader: Reader) -> None:
    with transaction():
        other_company = create_company()
    reader.store_review(environment_id=other_company.environment_id, note="A secret matter.")
    assert listed(signed_in, "q=secret") == []
    assert listed(signed_in, f"q={other_company.environment_id}") == []


def test_a_rare_match_is_found_by_pages_that_look_at_few_rows(
    signed_in: FlaskClient, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SCAN_LIMIT", 60)
    oldest = reader.store_review(100 * MINUTE, outcome="failure")
    for number in range(70):
        reader.store_review(number * MINUTE)
    first = signed_in.get("/feedback?outcome=failure").text
    assert "The next page looks at older ones" in first
    assert listed(signed_in, "outcome=failure") == [oldest]


def test_triaged_feedback_is_found_however_much_is_newer(
    signed_in: FlaskClient, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SCAN_LIMIT", 60)
    oldest = reader.store_review(100 * MINUTE)
    triage(reader.company, oldest, "investigating")
    for number in range(70):
        reader.store_review(number * MINUTE)
    assert re.findall(LINK, signed_in.get("/feedback?triage=investigating").text) == [str(oldest)]


@pytest.mark.parametrize("file_format", ["csv", "ndjson"])
def test_an_export_has_the_filters_of_its_page(signed_in: FlaskClient, reader: Reader, file_format: str) -> None:
    kept = reader.store_review(note=HOSTILE, outcome="failure")
    reader.store_review()
    triage(reader.company, kept, "wont_act")
    (row,) = download(signed_in, "/feedback?outcome=failure", file_format)
    assert row["interactionId"] == str(kept)
    assert row["triage"] == "wont_act"
    assert row["note"] == ("'" + HOSTILE if file_format == "csv" else HOSTILE)


def test_what_agents_and_companies_write_is_escaped(signed_in: FlaskClient, reader: Reader) -> None:
    operation = "<script>operation</script>"
    finding = {"kind": "friction", "topic": "<script>topic</script>", "detail": "<script>detail</script>"}
    interaction_id = reader.store_interaction(operation=operation, session_ref="<script>", runtime_hint="<script>hint")
    reader.store_report(interaction_id=interaction_id, summary=HOSTILE, findings=[finding])
    triage(reader.company, interaction_id, "new", kind="report", comment="<script>comment</script>")
    for path in ("/feedback", "/feedback/findings", f"/feedback/report/{interaction_id}"):
        text = signed_in.get(path).text
        assert "&lt;script&gt;" in text
        assert not re.search(r"<script(?! src)", text)


def test_empty_lists_say_what_to_do(signed_in: FlaskClient) -> None:
    assert "Set it up" in signed_in.get("/feedback").text
    assert "has what the filters ask for" in signed_in.get("/feedback?q=anything").text
    findings = signed_in.get("/feedback/findings").text
    assert "No reports" in findings
    assert "more days can be chosen" in findings


def test_a_report_is_listed_with_the_topics_of_its_findings(signed_in: FlaskClient, reader: Reader) -> None:
    found = (("gap", "a"), ("defect", "a"), ("gap", "b"))
    reader.store_report(findings=[{"kind": kind, "topic": topic} for kind, topic in found])
    assert "found: a, b" in signed_in.get("/feedback").text


def test_findings_are_counted_by_kind_and_topic(signed_in: FlaskClient, reader: Reader) -> None:
    friction = {"kind": "friction", "topic": "pagination", "severity": "blocking"}
    for findings in ([friction, friction], [friction], [{"kind": "gap", "topic": "pagination"}], []):
        reader.store_report(findings=findings)
    text = signed_in.get("/feedback/findings").text
    rows = [re.findall(r">([\w ,]+)</", row) for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)[1:]]
    assert [row[:5] for row in rows] == [
        ["pagination", "friction", "2", "3", "0"],
        ["pagination", "gap", "1", "0", "0"],
    ]
    assert "Of all 4 reports" in text
    assert len(listed(signed_in, "finding=friction&topic=pagination")) == 2


def test_only_what_needs_triage_is_called_new(signed_in: FlaskClient, reader: Reader) -> None:
    reader.store_review(MINUTE)
    reader.store_review(2 * MINUTE, outcome="failure")
    assert signed_in.get("/feedback").text.count('class="badge new"') == 1
