"""The page of a review or report: its triage, its session and the customer context."""

import re
import uuid
from datetime import timedelta
from html import unescape

import pytest
from flask.testing import FlaskClient

from app.accounts.users import create_user
from app.core.database import transaction
from tests.context_api import ContextApi, item
from tests.dashboard.browser import fields
from tests.factories import create_company
from tests.reading.fixtures import NOW, Reader
from tests.triage.actions import get_feedback, owner_login, triage

MINUTE = timedelta(minutes=1)


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
    assert ">Saved.</p>" in text
    assert '<option selected value="investigating">' in text
    assert f'<option selected value="{owner_id}">' in text
    assert "I will look\nat it." in text
    assert str(interaction_id) in signed_in.get("/feedback?triage=investigating").text


def test_a_request_that_names_the_state_alone_leaves_the_assignee(signed_in: FlaskClient, reader: Reader) -> None:
    path = f"/feedback/review/{reader.store_review()}"
    with transaction():
        owner_id = str(owner_login(reader.company).user_id)
    form = fields(signed_in.get(path))
    assert signed_in.post(path, data={**form, "state": "new", "assignee": owner_id}).status_code == 303
    token = {name: value for name, value in form.items() if "csrf" in name}
    assert signed_in.post(path, data={**token, "state": "resolved"}).status_code == 303
    shown = fields(signed_in.get(path))
    assert (shown["state_before"], shown["assignee_before"]) == ("resolved", owner_id)


def test_the_next_untriaged_is_behind_it_and_has_the_filters_of_the_list(
    signed_in: FlaskClient, reader: Reader
) -> None:
    operation = {"operation": "/search"}
    ids = [
        reader.store_review(
            age * MINUTE,
            outcome=outcome,
            interaction_id=reader.store_interaction(**(operation if number != 2 else {})),
        )
        for number, (age, outcome) in enumerate([(1, "failure"), (2, "success"), (3, "failure"), (4, "partial")])
    ]
    path = f"/feedback/review/{ids[0]}?operation=/search&kind=review"
    link = re.compile(r'href="([^"]*)#triage">Next untriaged<')
    (found,) = link.findall(signed_in.get(path).text)
    assert str(ids[3]) in found
    assert "operation=/search" in found
    assert "kind=review" in found
    assert link.findall(signed_in.get(unescape(found)).text) == []
    response = signed_in.post(path, data={**fields(signed_in.get(path)), "state": "resolved", "assignee": ""})
    assert "operation=/search" in response.location
    triage(reader.company, ids[3], "resolved")
    assert link.findall(signed_in.get(path).text) == []


@pytest.mark.parametrize(
    "values",
    [
        {"state": "done"},
        {"assignee": str(uuid.uuid4())},
        {"comment": "a" * 2_001},
        {"comment": "\x1b[0m"},
        {"assignee_before": "x"},
    ],
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


def test_a_comment_from_an_old_page_leaves_what_a_colleague_has_changed(signed_in: FlaskClient, reader: Reader) -> None:
    interaction_id = reader.store_review()
    path = f"/feedback/review/{interaction_id}"
    form = fields(signed_in.get(path))
    with transaction():
        owner_id = owner_login(reader.company).user_id
    triage(reader.company, interaction_id, "resolved", assignee_id=owner_id)
    answer = signed_in.post(path, data={**form, "state": "new", "assignee": "", "comment": "Me too."})
    assert answer.status_code == 303
    assert "Me too." in signed_in.get(path).text
    with transaction():
        item = get_feedback(reader.company, interaction_id)
        assert (item.triage, item.assignee_id) == ("resolved", owner_id)


def test_two_who_change_the_state_see_each_other(signed_in: FlaskClient, reader: Reader) -> None:
    interaction_id = reader.store_review()
    path = f"/feedback/review/{interaction_id}"
    form = fields(signed_in.get(path))
    triage(reader.company, interaction_id, "resolved")
    values = {"state": "investigating", "assignee": "", "comment": "Mine."}
    answer = signed_in.post(path, data={**form, **values})
    assert answer.status_code == 409
    assert "changed the triage meanwhile" in answer.text
    assert '<option selected value="resolved">' in answer.text
    assert "Mine.</textarea>" in answer.text
    assert "None yet." in answer.text
    with transaction():
        assert get_feedback(reader.company, interaction_id).triage == "resolved"
    assert signed_in.post(path, data={**fields(answer), **values}).status_code == 303
    with transaction():
        assert get_feedback(reader.company, interaction_id).triage == "investigating"


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
    reader.store_review(interaction_id=ids[1])
    text = signed_in.get(f"/feedback/review/{ids[1]}").text
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
