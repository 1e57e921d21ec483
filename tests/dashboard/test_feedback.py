"""The pages of feedback: list, filters, search, exports, triage and findings."""

import re
import uuid
from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from app.accounts.users import create_user
from app.core.database import pages, transaction
from app.triage import queries
from tests.context_api import ContextApi, item
from tests.dashboard.browser import fields
from tests.dashboard.lists import download, next_path, walk
from tests.factories import create_company, sign_in
from tests.reading.fixtures import NOW, Reader
from tests.triage.actions import get_feedback, owner_login, triage

MINUTE = timedelta(minutes=1)
LINK = r'class="note" href="[^"]*/feedback/(?:review|report)/([0-9a-f-]{36})'
HOSTILE = '=1+1 <script>alert("x")</script>'


@pytest.fixture
def signed_in(client: FlaskClient, reader: Reader) -> FlaskClient:
    sign_in(client, reader.company)
    return client


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


@pytest.mark.parametrize("first_scan", [1, 500])
def test_all_words_have_to_be_in_a_note_in_either_way_to_find_them(
    signed_in: FlaskClient, reader: Reader, monkeypatch: pytest.MonkeyPatch, first_scan: int
) -> None:
    monkeypatch.setattr(queries, "FIRST_SCAN", first_scan)
    monkeypatch.setattr("app.dashboard.lists.PAGE_SIZE", 1)
    both = reader.store_review(9 * MINUTE, note="The Refund came late.")
    finding = {"kind": "friction", "topic": "refund", "detail": "It was late."}
    report = reader.store_report(8 * MINUTE, findings=[finding])
    reader.store_review(7 * MINUTE, note="The refund came at once.")
    reader.store_review(6 * MINUTE, note="Refunds: late")
    reader.store_review(5 * MINUTE)
    assert listed(signed_in, "q=LATE+refund") == [report, both]


@pytest.mark.parametrize("words", ["!!!", "'", "%26|!<->", "a%00b", "%5C"])
def test_a_search_without_a_word_finds_nothing_and_breaks_nothing(
    signed_in: FlaskClient, reader: Reader, words: str
) -> None:
    reader.store_review()
    response = signed_in.get(f"/feedback?q={words}")
    assert response.status_code in (200, 422)
    assert re.findall(LINK, response.text) == []


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
    assert "No reports" in signed_in.get("/feedback/findings").text


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


def test_a_form_sets_state_and_assignee_and_adds_a_comment(signed_in: FlaskClient, reader: Reader) -> None:
    interaction_id = reader.store_review()
    with transaction():
        owner_id = str(owner_login(reader.company).user_id)
    path = f"/feedback/review/{interaction_id}"
    form = fields(signed_in.get(path))
    values = {"state": "investigating", "assignee": owner_id, "comment": "I will look\nat it."}
    response = signed_in.post(path, data={**form, **values})
    assert response.status_code == 303
    text = signed_in.get(response.location).text
    assert '<option selected value="investigating">' in text
    assert f'<option selected value="{owner_id}">' in text
    assert "I will look\nat it." in text
    assert listed(signed_in, "triage=investigating") == [interaction_id]


@pytest.mark.parametrize(
    "values", [{"state": "done"}, {"assignee": str(uuid.uuid4())}, {"comment": "a" * 2_001}, {"comment": "\x1b[0m"}]
)
def test_a_form_with_a_wrong_value_is_shown_again_and_changes_nothing(
    signed_in: FlaskClient, reader: Reader, values: dict[str, str]
) -> None:
    interaction_id = reader.store_review()
    path = f"/feedback/review/{interaction_id}"
    response = signed_in.post(path, data={**fields(signed_in.get(path)), "state": "resolved", "assignee": "", **values})
    assert response.status_code == 422
    assert "csrf_token" in response.text
    with transaction():
        assert get_feedback(reader.company, interaction_id).triage == "new"


def test_a_member_sees_the_triage_and_no_form(client: FlaskClient, reader: Reader) -> None:
    interaction_id = reader.store_review()
    triage(reader.company, interaction_id, "resolved", comment="Mended.")
    with transaction():
        colleague = create_user(reader.company.workspace_id, "colleague@example.com", "member")
    client.post("/api/session", json={"email": colleague.email, "password": colleague.password})
    path = f"/feedback/review/{interaction_id}"
    page = client.get(path)
    assert "Mended." in page.text
    assert "<textarea" not in page.text
    assert client.post(path, data={**fields(client.get("/account")), "state": "new"}).status_code == 403


@pytest.mark.parametrize("kind", ["review", "report", "nothing"])
def test_feedback_of_others_is_not_found(signed_in: FlaskClient, reader: Reader, kind: str) -> None:
    with transaction():
        other_company = create_company()
    interaction_id = reader.store_review(environment_id=other_company.environment_id)
    reader.store_report(environment_id=other_company.environment_id, interaction_id=interaction_id)
    path = f"/feedback/{kind}/{interaction_id}"
    assert signed_in.get(path).status_code == 404
    assert signed_in.post(path, data=fields(signed_in.get("/account"))).status_code == 404


def test_what_is_past_its_retention_is_not_shown(signed_in: FlaskClient, reader: Reader) -> None:
    interaction_id = reader.store_review(timedelta(days=91))
    assert signed_in.get(f"/feedback/review/{interaction_id}").status_code == 404


def test_a_review_without_an_interaction_yet_is_shown(signed_in: FlaskClient, reader: Reader) -> None:
    text = signed_in.get(f"/feedback/review/{reader.store_review()}").text
    assert "Every order was there." in text
    assert "not told which session" in text


def test_the_session_around_a_review_is_shown_in_order(signed_in: FlaskClient, reader: Reader) -> None:
    session_of = {"session_ref": "visit_1", "session_source": "customer"}
    reader.store_session(5 * MINUTE, first_seen_at=NOW - 30 * MINUTE)
    ids = [reader.store_interaction(age * MINUTE, **session_of) for age in (5, 10, 20, 30)]
    reader.store_interaction(15 * MINUTE, session_ref="visit_2", session_source="customer")
    reader.store_review(interaction_id=ids[2])
    text = signed_in.get(f"/feedback/review/{ids[2]}").text
    table = re.search(r'aria-label="The session around it">(.*?)</table>', text, re.DOTALL)
    assert table
    assert re.findall(r"<code>([0-9a-f-]{36})</code>", table[1]) == [
        str(interaction_id) for interaction_id in ids[::-1]
    ]


def test_the_context_that_was_used_is_shown(signed_in: FlaskClient, reader: Reader, context_api: ContextApi) -> None:
    context_api.put_field("content.format", allowedValues=["audio"])
    question = context_api.ask(userRef="u1").json
    context_api.answer(question, item("content.format", "audio", remember=True))
    retrieval = context_api.retrieve(userRef="u1").json
    decision = {"externalDecisionId": "d1", "contextRetrievalId": retrieval["retrievalId"], "signalIds": []}
    stored = context_api.post("/personalization/decisions", {**decision, "variant": "calm"}).json["decision"]
    outcome = {"externalOutcomeId": "o1", "decisionId": stored["id"], "outcome": "conversion"}
    context_api.post("/personalization/outcomes", outcome)
    interaction_id = reader.store_review(interaction_id=question["interactionId"])
    text = signed_in.get(f"/feedback/review/{interaction_id}").text
    assert "content.format" in text
    assert ">audio<" in text
    assert "calm: conversion" in text
