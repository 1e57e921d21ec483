"""Decisions and introspection."""

import json
import uuid
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.consent.models import ConsentDecision, ConsentSubject
from app.core.database import session, transaction
from app.products import service as products
from app.products.rules import Mode
from tests.factories import Company, bearer, create_company, send_review

SUBJECT = "afsub1_" + "S" * 43
OTHER_SUBJECT = "afsub1_" + "T" * 43

CONSENT_TEXT = (
    "May I send this product's provider one short, privacy-safe outcome report after this use and future uses without "
    "asking again? Agent Feedback will remember your choice for this product. Your prompts and task content are never "
    "included; nothing is installed."
)
PER_USE = (
    "May I send this product's provider one short, privacy-safe outcome report about this use? Your prompts and task "
    "content will not be included."
)


def company_in(mode: Mode) -> Company:
    with transaction():
        return create_company(mode)


def introspect(client: FlaskClient, token: str) -> Any:
    return client.post("/api/v2/capabilities/introspect", headers=bearer(token))


def decide(client: FlaskClient, token: str, decision: str) -> Any:
    return client.post("/api/v2/consent/decisions", json={"decision": decision}, headers=bearer(token))


# mode, has subject, decision -> state, policy, question, has a submit action
TABLE = [
    (Mode.NEVER_ASK, False, None, "feedback_ready", "none", None, True),
    (Mode.NEVER_ASK, True, None, "feedback_ready", "none", None, True),
    (Mode.ASK_ONCE, True, None, "consent_required", "once", CONSENT_TEXT, False),
    (Mode.ASK_ONCE, True, "approved", "feedback_ready", "none", None, True),
    (Mode.ASK_ONCE, True, "declined", "declined", "once", None, False),
    (Mode.ASK_ONCE, False, None, "consent_required", "always", PER_USE, False),
    (Mode.ASK_ONCE, False, "approved", "feedback_ready", "always", None, True),
    (Mode.ASK_ONCE, False, "declined", "declined", "always", None, False),
    (Mode.ASK_ALWAYS, False, None, "consent_required", "always", PER_USE, False),
    (Mode.ASK_ALWAYS, False, "approved", "feedback_ready", "always", None, True),
    (Mode.ASK_ALWAYS, False, "declined", "declined", "always", None, False),
    (Mode.ASK_ALWAYS, True, None, "consent_required", "always", PER_USE, False),
    (Mode.ASK_ALWAYS, True, "approved", "feedback_ready", "always", None, True),
    (Mode.ASK_ALWAYS, True, "declined", "declined", "always", None, False),
]


@pytest.mark.parametrize(("mode", "has_subject", "decision", "state", "policy", "question", "submits"), TABLE)
def test_introspection_tells_what_stands(
    client: FlaskClient,
    mode: Mode,
    has_subject: bool,
    decision: str | None,
    state: str,
    policy: str,
    question: str | None,
    submits: bool,
) -> None:
    company = company_in(mode)
    token = company.capability(**({"subject": SUBJECT, "revision": 0} if has_subject else {}))
    if decision:
        assert decide(client, token, decision).status_code == 200
    response = introspect(client, token)
    assert response.status_code == 200
    introspection = response.json
    submit = introspection.pop("submit")
    assert introspection == {
        "state": state,
        "configuredMode": mode,
        "consentPolicy": policy,
        "productName": "Example product",
        "canonicalQuestion": question,
        "expiresAt": introspection["expiresAt"],
    }
    assert (submit is not None) is submits
    # What introspection says is what the outcome endpoint does.
    assert send_review(client, token).status_code == (200 if submits else 403)


def test_an_environment_that_is_off_is_gone_and_has_nothing_to_decide(client: FlaskClient) -> None:
    company = company_in(Mode.OFF)
    assert introspect(client, company.capability()).status_code == 410
    assert decide(client, company.capability(), "approved").status_code == 409


def test_never_ask_has_nothing_to_decide(client: FlaskClient, company: Company) -> None:
    assert decide(client, company.capability(), "approved").status_code == 409


def test_an_approval_returns_the_contract_of_a_remembered_approval(client: FlaskClient) -> None:
    company = company_in(Mode.ASK_ONCE)
    token = company.capability(subject=SUBJECT)
    body = decide(client, token, "approved").json
    assert (body["state"], body["changed"]) == ("feedback_ready", True)
    feedback = body["feedback"]
    assert (feedback["mode"], feedback["configuredMode"], feedback["consentPolicy"]) == (
        "never_ask",
        "ask_once",
        "none",
    )
    assert feedback["consentManagedBy"] == "service"
    assert "manageConsent" not in feedback
    assert feedback["submit"]["authorization"] == f"Bearer {token}"
    assert feedback["submit"] == introspect(client, token).json["submit"]


def test_a_refusal_returns_no_contract(client: FlaskClient) -> None:
    body = decide(client, company_in(Mode.ASK_ONCE).capability(subject=SUBJECT), "declined").json
    assert (body["state"], body["changed"], body["feedback"]) == ("declined", True, None)


@pytest.mark.parametrize("subject", [None, SUBJECT])
def test_the_first_decision_of_an_interaction_stays_and_replays_return_it(
    client: FlaskClient, subject: str | None
) -> None:
    token = company_in(Mode.ASK_ONCE).capability(subject=subject)
    first_response = decide(client, token, "approved").json
    for decision in ("approved", "declined"):
        replay = decide(client, token, decision).json
        assert (replay["state"], replay["changed"]) == ("feedback_ready", False)
        assert replay["feedback"] == first_response["feedback"]
        assert replay["decidedAt"] == first_response["decidedAt"]


def test_a_customers_choice_is_remembered_for_other_interactions_and_keys(app: Flask, client: FlaskClient) -> None:
    company = company_in(Mode.ASK_ONCE)
    decide(client, company.capability(subject=SUBJECT), "approved")
    with transaction():
        successor = products.rotate_key(company.product_key.split("_")[2], overlap_hours=0)
    app.extensions["key_cache"].clear()
    rotated_company = Company(
        company.workspace_id, company.product_id, company.environment_id, successor.text, company.company_key
    )
    assert introspect(client, rotated_company.capability(subject=SUBJECT, revision=1)).json["state"] == "feedback_ready"
    assert introspect(client, rotated_company.capability(subject=OTHER_SUBJECT)).json["state"] == "consent_required"


def test_approve_decline_approve_handles_never_overwrite_a_newer_choice(client: FlaskClient) -> None:
    company = company_in(Mode.ASK_ONCE)
    old_token = company.capability(subject=SUBJECT, revision=0)
    delayed_token = company.capability(subject=SUBJECT, revision=0)
    assert decide(client, old_token, "approved").json["changed"]
    assert decide(client, company.capability(subject=SUBJECT, revision=1), "declined").json["changed"]
    for handle in (old_token, delayed_token, company.capability(subject=SUBJECT, revision=1)):
        body = decide(client, handle, "approved").json
        assert (body["state"], body["changed"], body["feedback"]) == ("declined", False, None)
    newest_response = decide(client, company.capability(subject=SUBJECT, revision=2), "approved").json
    assert (newest_response["state"], newest_response["changed"]) == ("feedback_ready", True)


def test_a_handle_that_saw_a_decision_nobody_made_changes_nothing(client: FlaskClient) -> None:
    body = decide(client, company_in(Mode.ASK_ONCE).capability(subject=SUBJECT, revision=3), "approved").json
    assert body == {"state": "consent_required", "decidedAt": None, "changed": False, "feedback": None}


def test_silence_records_nothing(client: FlaskClient) -> None:
    company = company_in(Mode.ASK_ONCE)
    introspect(client, company.capability(subject=SUBJECT))
    assert send_review(client, company.capability(subject=SUBJECT)).status_code == 403
    with transaction():
        assert session().scalar(select(func.count()).select_from(ConsentSubject)) == 0


def test_a_company_warms_its_cache_with_the_state_of_its_subjects(client: FlaskClient) -> None:
    company = company_in(Mode.ASK_ONCE)
    decide(client, company.capability(subject=SUBJECT), "declined")
    path, headers = "/api/v2/consent/state", bearer(company.product_key)
    single_response = client.post(path, json={"subject": SUBJECT}, headers=headers)
    assert single_response.json == {"state": "declined", "revision": 1}
    list_response = client.post(path, json={"subjects": [OTHER_SUBJECT, SUBJECT]}, headers=headers)
    assert list_response.json == {
        "subjects": [
            {"subject": OTHER_SUBJECT, "state": "unknown", "revision": 0},
            {"subject": SUBJECT, "state": "declined", "revision": 1},
        ]
    }


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"subject": SUBJECT, "subjects": [SUBJECT]}, 422),
        ({"subject": "somebody"}, 422),
        ({"subjects": []}, 422),
        ({"subjects": [SUBJECT] * 51}, 422),
        ({"subjects": [{"a": 1}]}, 400),
    ],
)
def test_a_wrong_question_for_states_is_refused(
    client: FlaskClient, company: Company, body: dict[str, Any], status: int
) -> None:
    response = client.post("/api/v2/consent/state", json=body, headers=bearer(company.product_key))
    assert response.status_code == status


def test_another_environment_knows_nothing_of_a_choice(client: FlaskClient) -> None:
    own_company, other_company = company_in(Mode.ASK_ONCE), company_in(Mode.ASK_ONCE)
    decide(client, own_company.capability(subject=SUBJECT), "approved")
    assert introspect(client, other_company.capability(subject=SUBJECT)).json["state"] == "consent_required"
    response = client.post(
        "/api/v2/consent/state", json={"subject": SUBJECT}, headers=bearer(other_company.product_key)
    )
    assert response.json["state"] == "unknown"


def test_a_review_that_was_stored_is_returned_after_consent_was_withdrawn(client: FlaskClient) -> None:
    company = company_in(Mode.ASK_ONCE)
    token = company.capability(subject=SUBJECT)
    decide(client, token, "approved")
    first = send_review(client, token)
    decide(client, company.capability(subject=SUBJECT, revision=1), "declined")
    assert send_review(client, token).data == first.data
    assert send_review(client, company.capability(subject=SUBJECT, revision=2)).status_code == 403


def test_the_body_of_an_introspection_is_ignored(client: FlaskClient, company: Company) -> None:
    response = client.post("/api/v2/capabilities/introspect", data=b"\xff{", headers=bearer(company.capability()))
    assert response.status_code == 200


@pytest.mark.parametrize("path", ["/api/v2/capabilities/introspect", "/api/v2/consent/decisions", "/api/v2/reports"])
def test_browsers_of_any_origin_may_ask(client: FlaskClient, path: str) -> None:
    preflight = client.options(
        path, headers={"Origin": "https://agent.example", "Access-Control-Request-Method": "POST"}
    )
    assert (preflight.status_code, preflight.headers["Access-Control-Allow-Origin"]) == (200, "*")
    assert "Access-Control-Allow-Credentials" not in preflight.headers


def test_the_companys_own_endpoint_is_closed_to_browsers(client: FlaskClient) -> None:
    assert "Access-Control-Allow-Origin" not in client.options("/api/v2/consent/state").headers


def test_every_winning_decision_is_on_record_without_a_reference_in_clear(client: FlaskClient) -> None:
    company = company_in(Mode.ASK_ONCE)
    interaction_id = str(uuid.uuid4())
    decide(client, company.capability(interaction_id, subject=SUBJECT), "approved")
    with transaction():
        row = session().get_one(ConsentDecision, (company.environment_id, uuid.UUID(interaction_id)))
    assert (row.decision, row.question, row.revision, row.subject) == ("approved", "once/1", 1, SUBJECT)


def test_a_key_kind_without_signing_cannot_decide(client: FlaskClient, company: Company) -> None:
    assert decide(client, company.company_key, "approved").status_code == 401


def test_a_receipt_tells_every_decision_of_the_same_person(client: FlaskClient) -> None:
    company = company_in(Mode.ASK_ONCE)
    interaction_id = str(uuid.uuid4())
    decide(client, company.capability(interaction_id, subject=SUBJECT), "approved")
    decide(client, company.capability(subject=SUBJECT, revision=1), "declined")
    arguments = ["consent", "receipt", interaction_id, "--environment", str(company.environment_id), "--json"]
    output = json.loads(client.application.test_cli_runner().invoke(args=arguments).output)
    assert set(output) == {"header", "piiProcessing", "partyIdentification", "events"}
    assert output["header"]["piiPrincipalId"] == SUBJECT
    assert (output["piiProcessing"]["privacyNotice"], output["piiProcessing"]["privacyNoticeVersion"]) == (
        CONSENT_TEXT,
        "1",
    )
    assert [event["eventState"] for event in output["events"]] == ["consent given", "consent withdrawn"]
