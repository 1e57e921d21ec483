"""The editor of questions: what it refuses, stores, previews and removes."""

import re
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.accounts.users import create_user
from app.catalog.entries import catalog_file
from app.core.database import session, transaction
from tests.context_api import ContextApi
from tests.dashboard.browser import fields, send
from tests.dashboard.question_pages import QUESTION, add, change, row, shown_json
from tests.factories import Company, sign_in


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


@pytest.fixture
def member(app: Flask, company: Company) -> FlaskClient:
    with transaction():
        user = create_user(company.workspace_id, "member@example.com", "member")
    client = app.test_client()
    client.post("/api/session", json={"email": "member@example.com", "password": user.password})
    return client


def test_a_question_is_added_and_reaches_the_next_request(owner: FlaskClient, context_api: ContextApi) -> None:
    response = add(owner, operations="/search\n/orders/42", targeted_advertising_safe="y")
    assert response.status_code == 303
    page = owner.get(response.location).text
    assert "The question is saved." in page
    assert "Your own questions replace all of them" in page
    assert row(page, "trip.pace")[:4] == [
        "Preferred pace trip.pace",
        "customer_goal",
        "2 answers slow, fast",
        "/search /orders/:id",
    ]
    assert context_api.ask().json["submit"]["bodySchema"]["catalog"] == [
        {
            "key": "trip.pace",
            "label": "Preferred pace",
            "type": "preference",
            "questionType": "customer_goal",
            "allowedValues": ["slow", "fast"],
            "targetedAdvertisingSafe": True,
        }
    ]


@pytest.mark.parametrize(
    ("changes", "name", "sentence"),
    [
        ({"key": "trip"}, "key", "Write two parts with a dot, such as shoes.size"),
        ({"key": ""}, "key", "Write two parts with a dot, such as shoes.size"),
        ({"key": "service.pace"}, "key", "The namespace `service` is kept for built-in fields."),
        ({"key": "health.diagnosis"}, "key", 'This names something that must not be asked for: "health".'),
        ({"label": "Your income"}, "label", 'This names something that must not be asked for: "income".'),
        ({"label": "ab"}, "label", "This must have 3 to 120 characters."),
        ({"label": "Write to somebody@mail-host.com"}, "label", "The text looks as if it holds personal data"),
        ({"label": ""}, "label", "Write the question"),
        ({"type": "Goal"}, "type", "Write words in lowercase with underscores between them"),
        ({"allowed_values": " \n"}, "allowed_values", "Write at least one answer."),
        ({"allowed_values": "\n".join(f"size_{n}" for n in range(33))}, "allowed_values", "Write at most 32 lines."),
        ({"allowed_values": "slow\n42"}, "allowed_values", "Line 2: write words in lowercase"),
        ({"allowed_values": "slow\nslow"}, "allowed_values", "Each entry may be there once."),
        ({"operations": "/a b"}, "operations", "Line 1: write a path or a name without spaces"),
    ],
)
def test_what_is_wrong_is_shown_at_its_field(
    owner: FlaskClient, changes: dict[str, str], name: str, sentence: str
) -> None:
    response = add(owner, **changes)
    assert response.status_code in (400, 422)
    errors = {
        key: unescape(text) for key, text in re.findall(r'class="error" id="(\w+)-error">(.*?)</p>', response.text)
    }
    assert errors.keys() == {name}
    assert errors[name].startswith(sentence)
    assert "Preferred pace" in response.text or "label" in changes
    assert "No question of your own" in owner.get("/questions").text


def test_every_wrong_field_is_shown_at_once(owner: FlaskClient) -> None:
    page = add(owner, key="Trip", label="x", allowed_values="").text
    assert re.findall(r'id="(\w+)-error"', page) == ["key", "label", "allowed_values"]


def test_a_key_is_taken_once(owner: FlaskClient) -> None:
    add(owner)
    response = add(owner, label="Another pace")
    assert response.status_code == 409
    assert "There is a question with this key already" in response.text
    assert "Preferred pace" in row(owner.get("/questions").text, "trip.pace")[0]


def test_the_sixty_fifth_question_is_refused(owner: FlaskClient, context_api: ContextApi) -> None:
    for number in range(64):
        context_api.put_field(f"trip.pace_{number}", enabled=False)
    response = add(owner)
    assert response.status_code == 409
    assert "A product has at most 64 fields of its own" in response.text


def test_a_question_is_changed_and_retired(owner: FlaskClient, context_api: ContextApi) -> None:
    add(owner)
    assert change(owner, label="Wanted pace").status_code == 303
    assert context_api.ask().json["submit"]["bodySchema"]["catalog"][0]["label"] == "Wanted pace"
    assert change(owner, enabled="").status_code == 303
    page = owner.get("/questions").text
    assert "the 21 built-in questions" in page
    assert row(page, "trip.pace")[-2] == "retired"


def test_the_second_of_two_editors_is_told(owner: FlaskClient) -> None:
    add(owner)
    stale_form = fields(owner.get("/questions/fields/trip.pace"))
    change(owner, label="First change")
    response = owner.post("/questions/fields/trip.pace", data={**QUESTION, **stale_form, "label": "Second change"})
    assert response.status_code == 409
    assert "Somebody else has changed this question meanwhile" in response.text
    assert "Second change" in response.text
    response = owner.post("/questions/fields/trip.pace/remove", data=stale_form)
    assert response.status_code == 409
    assert "First change" in row(owner.get("/questions").text, "trip.pace")[0]


@pytest.mark.parametrize("version", ["", "x", "2026-01-01T00:00:00", "2026-01-01T00:00:00+00:00"])
def test_a_forged_version_changes_nothing(owner: FlaskClient, version: str) -> None:
    add(owner)
    assert change(owner, version=version, label="Forged").status_code == 409
    assert "Forged" not in owner.get("/questions").text


def test_a_question_is_removed_after_a_second_step(owner: FlaskClient) -> None:
    add(owner)
    page = owner.get("/questions/fields/trip.pace/remove")
    assert "agents are asked the 21 built-in ones again" in page.text
    response = owner.post("/questions/fields/trip.pace/remove", data=fields(page))
    assert response.status_code == 303
    assert "The question is removed." in owner.get(response.location).text
    assert "No question of your own" in owner.get("/questions").text


def test_changes_are_in_the_audit_log_with_what_they_replaced(owner: FlaskClient) -> None:
    add(owner)
    change(owner, label="Wanted pace")
    with transaction():
        entry = session().scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(1)).one()
    assert (entry.action, entry.subject, entry.actor.partition(" ")[0]) == ("field.written", "trip.pace", "user")
    assert (entry.details["before"], entry.details["after"]) == ({"label": "Preferred pace"}, {"label": "Wanted pace"})


def test_the_preview_is_what_a_request_then_shows(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.put_field("trip.mood")
    page = send(owner, "/questions/preview", **{**QUESTION, "version": ""}).text
    previewed = shown_json(page)
    hashes = re.findall(r"<code>([0-9a-f]{64})</code>", page)
    assert "trip.pace" not in owner.get("/questions").text
    add(owner)
    request = context_api.ask().json
    assert previewed in request["submit"]["bodySchema"]["catalog"]
    assert hashes == [request["constraints"]["catalog"]["hash"]]


def test_the_preview_names_what_it_replaces(owner: FlaskClient) -> None:
    page = send(owner, "/questions/preview", **{**QUESTION, "version": ""}).text
    assert all(entry.key in page for entry in catalog_file().catalog.entries)
    add(owner)
    form = {**QUESTION, **fields(owner.get("/questions/fields/trip.pace")), "enabled": ""}
    page = owner.post("/questions/preview", data=form).text
    assert "agents are asked the 21 built-in ones again" in page
    assert "Nothing: this question is retired." in page
    assert 'action="/questions/fields/trip.pace' in page


def test_the_preview_of_a_wrong_question_says_what_is_wrong(owner: FlaskClient) -> None:
    response = send(owner, "/questions/preview", **{**QUESTION, "label": "Your income"})
    assert response.status_code == 200
    assert "It cannot be shown yet." in response.text
    assert re.findall(r'id="(\w+)-error"', response.text) == ["label"]
    assert response.text.count("must not be asked for") == 1
    form = {**QUESTION, "label": "Your income", "csrf_token": fields(owner.get("/account"))["csrf_token"]}
    part = owner.post("/questions/preview", data=form, headers={"HX-Request": "true"}).text
    assert "<li>Question: This names something that must not be asked for" in part


def test_a_built_in_question_can_be_copied(owner: FlaskClient) -> None:
    page = owner.get("/questions/new?from=travel.stay_style").text
    assert 'value="travel.stay_style"' in page
    assert "quiet_boutique" in page


def test_a_member_reads_and_sees_no_form_that_writes(
    member: FlaskClient, owner: FlaskClient, context_api: ContextApi
) -> None:
    add(owner)
    page = member.get("/questions").text
    assert "Preferred pace" in page
    assert "/questions/new" not in page
    for path in ("/questions/new", "/questions/fields/trip.pace", "/questions/fields/trip.pace/remove"):
        assert member.get(path).status_code == 403
        assert send(member, path, **QUESTION).status_code == 403
    assert send(member, "/questions/preview", **QUESTION).status_code == 403


@pytest.mark.parametrize("key", ["trip.mood", "x", "%00.x", "a.b%2Fremove"])
def test_an_unknown_key_is_not_found(owner: FlaskClient, key: str) -> None:
    for path in (f"/questions/fields/{key}", f"/questions/fields/{key}/remove"):
        assert owner.get(path).status_code == 404
        assert send(owner, path, **QUESTION).status_code == 404


def test_what_a_company_writes_is_escaped(owner: FlaskClient) -> None:
    hostile = '"><script>alert(1)</script>'
    add(owner, label=hostile)
    for path in ("/questions", "/questions/fields/trip.pace", "/questions/fields/trip.pace/remove"):
        page = owner.get(path).text
        assert "<script>alert" not in page
        assert "alert(1)" in page
