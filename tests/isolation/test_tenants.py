"""No request of one company reads or changes a row of another, whatever ids it names."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.accounts.rules import ROLES
from app.accounts.users import create_user
from app.core.database import transaction
from tests.context_api import ContextApi, item
from tests.factories import bearer, event, observation, send_events, send_evidence, send_review, sign_in
from tests.isolation.companies import ACCOUNT, USER, Tenant, create_tenant, stored_rows
from tests.isolation.test_credentials import guarded_rules
from tests.reports.test_reports import FULL_REPORT

Request = Callable[[FlaskClient, Tenant, Tenant], TestResponse]


def _post(path: str, token: str, body: Callable[[Tenant], Any]) -> Request:
    """Return a request with a credential of the caller's, and a body with ids of the other company's."""
    return lambda client, caller, other: client.post(
        path, json=body(other), headers=bearer(caller.credentials()[token])
    )


def _decision(other: Tenant) -> dict[str, Any]:
    return {
        "externalDecisionId": "d2",
        "contextRetrievalId": other.retrieval_id,
        "signalIds": other.signal_ids,
    }


def _outcome(other: Tenant) -> dict[str, Any]:
    return {"externalOutcomeId": "o2", "decisionId": other.decision_id, "outcome": "conversion"}


def _enrichment_request(other: Tenant) -> dict[str, Any]:
    return {
        "interactionId": other.interaction_id,
        "operation": "/search",
        "surface": "http_json",
        "purpose": "product_personalization",
        "accountRef": ACCOUNT,
        "userRef": USER,
        "fieldKeys": [other.field_key],
    }


def _summary(client: FlaskClient, caller: Tenant, other: Tenant) -> TestResponse:
    sign_in(client, caller.company)
    query = {"environmentId": other.company.environment_id}
    return client.get(f"/api/products/{other.company.product_id}/evidence/http-requests/summary", query_string=query)


def _summary_of_own_product(client: FlaskClient, caller: Tenant, other: Tenant) -> TestResponse:
    mixed_tenant = replace(other, company=replace(other.company, product_id=caller.company.product_id))
    return _summary(client, caller, mixed_tenant)


def _read(path: Callable[[FlaskClient, Tenant], str]) -> Request:
    """Return a request with the caller's read key, and a path with an id or a cursor of the other company's."""
    return lambda client, caller, other: client.get(f"/api/v2/{path(client, other)}", headers=bearer(caller.read_key))


def _report_id(client: FlaskClient, other: Tenant) -> str:
    report_id: str = client.get("/api/v2/reports", headers=bearer(other.read_key)).json["items"][0]["id"]
    return report_id


def _get_report_by_mcp(client: FlaskClient, caller: Tenant, other: Tenant) -> TestResponse:
    arguments = {"reportId": _report_id(client, other)}
    params = {"name": "get_report", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accept = {"Accept": "application/json, text/event-stream"}
    response = client.post("/mcp", json=message, headers={**accept, **bearer(caller.read_key)})
    assert response.json["result"]["structuredContent"]["code"] == "not_found"
    return response


REQUESTS: dict[str, tuple[Request, int]] = {
    "outcomes.record": (lambda c, a, b: send_review(c, a.company.capability(b.interaction_id), "failure"), 200),
    "reports.record": (
        lambda c, a, b: c.post(
            "/api/v2/reports", json=FULL_REPORT, headers=bearer(a.company.capability(b.interaction_id))
        ),
        200,
    ),
    "outcome_previews.preview": (
        lambda c, a, b: c.post(
            "/api/v2/outcomes/preview",
            json={"outcome": "failure", "note": "Nothing at all was found."},
            headers=bearer(a.company.capability(b.interaction_id)),
        ),
        200,
    ),
    "report_previews.preview": (
        lambda c, a, b: c.post(
            "/api/v2/reports/preview", json=FULL_REPORT, headers=bearer(a.company.capability(b.interaction_id))
        ),
        200,
    ),
    "capabilities.introspect": (
        lambda c, a, b: c.post(
            "/api/v2/capabilities/introspect", headers=bearer(a.company.capability(b.interaction_id))
        ),
        200,
    ),
    "telemetry.accept_batch": (
        lambda c, a, b: send_events(c, a.company, event(b.interaction_id, customerRef=ACCOUNT, sessionRef="visit_1")),
        202,
    ),
    "evidence.accept_batch": (lambda c, a, b: send_evidence(c, a.company, observation()), 200),
    "personalization.record_decision": (_post("/api/v2/personalization/decisions", "companyKey", _decision), 404),
    "personalization.record_outcome": (_post("/api/v2/personalization/outcomes", "companyKey", _outcome), 404),
    "enrichment_requests.request_context": (
        _post("/api/v2/enrichment/requests", "companyKey", _enrichment_request),
        422,
    ),
    "catalog.put_field": (lambda c, a, b: ContextApi(c, a.company).put_field(b.field_key, label="Taken over"), 200),
    "catalog.delete_field": (
        lambda c, a, b: c.delete(f"/api/v2/enrichment/fields/{b.field_key}", headers=bearer(a.company.company_key)),
        404,
    ),
    "catalog.list_fields": (
        lambda c, a, b: c.get("/api/v2/enrichment/fields", headers=bearer(a.company.company_key)),
        200,
    ),
    "context.retrieve": (
        lambda c, a, b: ContextApi(c, a.company).retrieve(accountRef=ACCOUNT, userRef=USER),
        200,
    ),
    "enrichment_answers.answer": (
        lambda c, a, b: ContextApi(c, a.company).post(
            "/enrichment/answers", {"status": "answered", "items": [item(b.field_key, "slow")]}, a.request_handle
        ),
        422,
    ),
    "reading.list_reviews": (_read(lambda c, b: "reviews"), 200),
    "reading.list_reports": (_read(lambda c, b: "reports"), 200),
    "reading.list_interactions": (_read(lambda c, b: "interactions"), 200),
    "reading.list_operations": (_read(lambda c, b: "operations"), 200),
    "reading.get_report": (_read(lambda c, b: f"reports/{_report_id(c, b)}"), 404),
    "reading.get_interaction": (_read(lambda c, b: f"interactions/{b.interaction_id}"), 404),
    "mcp.answer_message": (_get_report_by_mcp, 200),
    "evidence_summaries.summarize": (_summary, 404),
    "evidence_summaries.summarize of the caller's product": (_summary_of_own_product, 404),
}

WITHOUT_FOREIGN_IDS = {
    "consent.decide": "the capability alone names the interaction; an environment that never asks has no decision",
    "consent_state.state": "the consent subject is a digest over the key's own environment",
    "enrichment_answers.choose": "the handle alone names the request",
    "enrichment_answers.inspect": "the handle alone names the request",
    "login.get_session": "shows the session of its cookie",
    "login.close_session": "ends the session of its cookie",
}
"""Endpoints that no id of another company can be sent to, and why."""


@pytest.mark.parametrize("name", REQUESTS)
def test_ids_of_another_company_reach_nothing(app: Flask, client: FlaskClient, name: str) -> None:
    caller, other = create_tenant(client, "shop.own_colour"), create_tenant(client, "shop.secret_colour")
    rows_before = stored_rows(other)
    request, status = REQUESTS[name]
    response = request(client, caller, other)
    assert response.status_code == status, response.text
    assert stored_rows(other) == rows_before
    foreign_ids = [other.retrieval_id, other.decision_id, *other.signal_ids, str(other.company.environment_id)]
    if name.startswith("reading."):
        foreign_ids.append(other.interaction_id)
        assert caller.interaction_id in response.text or status == 404 or name == "reading.list_operations"
    assert [foreign_id for foreign_id in foreign_ids if foreign_id in response.text] == []


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("request_of", [_summary, _summary_of_own_product])
def test_no_role_sees_the_evidence_of_another_company(client: FlaskClient, request_of: Request, role: str) -> None:
    caller, other = create_tenant(client, "shop.own_colour"), create_tenant(client, "shop.secret_colour")
    with transaction():
        user = create_user(caller.company.workspace_id, "colleague@example.com", role)
    company = replace(caller.company, email="colleague@example.com", password=user.password)
    colleague = replace(caller, company=company)
    assert _summary(client, colleague, colleague).status_code == 200
    assert request_of(client, colleague, other).status_code == 404


def test_every_endpoint_is_tried(app: Flask) -> None:
    endpoints = {rule.endpoint for rule, _, _ in guarded_rules(app)}
    assert endpoints == {name.partition(" ")[0] for name in REQUESTS} | WITHOUT_FOREIGN_IDS.keys()
