"""GET /api/products/{productId}/evidence/http-requests/summary."""

from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from openapi_spec_validator import validate
from werkzeug.test import TestResponse

from app.core.database import transaction
from app.products import service as products
from tests.factories import Company, bearer, create_company, observation, send_evidence, sign_in


def get_summary(client: FlaskClient, company: Company, **query: object) -> TestResponse:
    return client.get(
        f"/api/products/{company.product_id}/evidence/http-requests/summary",
        query_string={"environmentId": company.environment_id, **query},
    )


@pytest.fixture
def company(client: FlaskClient, company: Company) -> Company:
    """The company, whose owner is signed in."""
    assert sign_in(client, company).status_code == 200
    return company


def test_the_summary_is_answered(client: FlaskClient, company: Company) -> None:
    send_evidence(client, company, observation(agentToken="GPTBot"), observation(referrerHost="claude.ai"))
    response = get_summary(client, company)
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "private, no-store"
    assert set(response.json) == {
        *("productId", "environmentId", "window", "totals", "byActorProvider", "byFetchClass", "byEvidenceTier"),
        *("byReferralProvider", "bySource", "byNetworkEvidenceMethod", "daily"),
    }
    assert set(response.json["window"]) == {"days", "requestedDays", "from", "to", "retentionDays"}
    assert response.json["window"]["days"] == len(response.json["daily"]) == 30
    assert response.json["totals"] == {"events": 2, "fetches": 1, "referrals": 1}


@pytest.mark.parametrize(("days", "status"), [(1, 200), (365, 200), (0, 422), (366, 422), (-1, 422), (10**12, 422)])
def test_a_window_has_1_to_365_days(client: FlaskClient, company: Company, days: int, status: int) -> None:
    response = get_summary(client, company, days=days)
    assert response.status_code == status
    if status == 422:
        assert response.json["errors"][0]["pointer"] == "/days"


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"days": "many"}, 422, "type"),
        ({"days": "1.5"}, 422, "type"),
        ({"days": ""}, 422, "type"),
        ({"environmentId": "production"}, 422, "format"),
        ({"environmentId": None}, 422, "required"),
        ({"since": "2026-01-01"}, 422, "unknown_field"),
        ({"days": ["7", "30"]}, 422, "repeated"),
        ({"since": ["2026-01-01", "2026-01-02"]}, 422, "repeated"),
    ],
)
def test_an_invalid_query_is_an_error_with_its_cause(
    client: FlaskClient, company: Company, query: dict[str, object], status: int, code: str
) -> None:
    response = get_summary(client, company, **query)
    assert (response.status_code, response.json["errors"][0]["code"]) == (status, code)


def test_another_workspace_and_another_product_see_nothing(client: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    assert get_summary(client, other_company).status_code == 404
    assert get_summary(client, company, environmentId=other_company.environment_id).status_code == 404
    with transaction():
        second_product = products.create_product(company.workspace_id, "Another product")
    assert get_summary(client, replace(company, product_id=second_product.id)).status_code == 404


def test_nobody_sees_anything_without_a_session(app: Flask, client: FlaskClient, company: Company) -> None:
    assert get_summary(app.test_client(), company).status_code == 401
    path = f"/api/products/{company.product_id}/evidence/http-requests/summary"
    query = {"environmentId": company.environment_id}
    response = app.test_client().get(path, query_string=query, headers=bearer(company.company_key))
    assert response.status_code == 401


def test_the_endpoint_is_described(client: FlaskClient) -> None:
    description = client.get("/openapi.json").json
    validate(description)
    operation = description["paths"]["/api/products/{product_id}/evidence/http-requests/summary"]["get"]
    query = {parameter["name"]: parameter for parameter in operation["parameters"] if parameter["in"] == "query"}
    assert query["environmentId"]["required"] is True
    days = query["days"]["schema"]
    assert (days["type"], days["minimum"], days["maximum"]) == ("integer", 1, 365)
    assert {"200", "401", "404", "422"} <= set(operation["responses"])
