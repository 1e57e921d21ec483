"""GET /api/products/{productId}/evidence/http-requests/summary."""

import uuid
from collections.abc import Iterator

import pytest
from flask import Flask, g, request
from flask.testing import FlaskClient
from openapi_spec_validator import validate
from werkzeug.test import TestResponse

from app import create_app
from app.core.database import transaction
from app.core.doors import Door, Guard
from app.core.errors import Unauthorized
from app.evidence.routes import summaries
from config.settings import Settings
from tests.factories import Company, found_company, observation, send_evidence


def admit_workspace() -> None:
    """Admit who names its workspace; the door of the dashboard asks its session."""
    if "X-Workspace" not in request.headers:
        raise Unauthorized
    g.workspace_id = uuid.UUID(request.headers["X-Workspace"])


@pytest.fixture
def client(app: Flask, settings: Settings) -> Iterator[FlaskClient]:
    """The service with the summary's door in place."""
    made = create_app(settings)
    api = made.extensions["flask-smorest"]["apis"][""]["ext_obj"]
    api.open_door(Door(summaries, "/api/products", Guard("testSession", admit_workspace, "A workspace, for a test.")))
    with made.app_context():
        yield made.test_client()
    made.extensions["database"].dispose()


def ask(client: FlaskClient, company: Company, workspace_id: uuid.UUID | None = None, **query: object) -> TestResponse:
    return client.get(
        f"/api/products/{company.product_id}/evidence/http-requests/summary",
        query_string={"environmentId": company.environment_id, **query},
        headers={"X-Workspace": str(workspace_id or company.workspace_id)},
    )


def test_the_summary_is_answered(client: FlaskClient, company: Company) -> None:
    send_evidence(client, company, observation(agentToken="GPTBot"), observation(referrerHost="claude.ai"))
    answer = ask(client, company)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert set(answer.json) == {
        *("productId", "environmentId", "window", "totals", "byActorProvider", "byFetchClass", "byEvidenceTier"),
        *("byReferralProvider", "bySource", "byNetworkEvidenceMethod", "daily"),
    }
    assert set(answer.json["window"]) == {"days", "requestedDays", "from", "to", "retentionDays"}
    assert answer.json["window"]["days"] == len(answer.json["daily"]) == 30
    assert answer.json["totals"] == {"events": 2, "fetches": 1, "referrals": 1}


@pytest.mark.parametrize(("days", "status"), [(1, 200), (365, 200), (0, 422), (366, 422), (-1, 422), (10**12, 422)])
def test_a_window_has_1_to_365_days(client: FlaskClient, company: Company, days: int, status: int) -> None:
    answer = ask(client, company, days=days)
    assert answer.status_code == status
    if status == 422:
        assert answer.json["errors"][0]["pointer"] == "/days"


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"days": "many"}, 422, "type"),
        ({"days": "1.5"}, 422, "type"),
        ({"days": ""}, 422, "type"),
        ({"environmentId": "production"}, 422, "format"),
        ({"environmentId": None}, 422, "required"),
        ({"since": "2026-01-01"}, 400, "unknown_field"),
    ],
)
def test_a_bad_question_is_told_what_is_wrong(
    client: FlaskClient, company: Company, query: dict[str, object], status: int, code: str
) -> None:
    answer = ask(client, company, **query)
    assert (answer.status_code, answer.json["errors"][0]["code"]) == (status, code)


def test_another_workspace_and_another_product_see_nothing(client: FlaskClient, company: Company) -> None:
    with transaction():
        other = found_company()
    assert ask(client, company, workspace_id=other.workspace_id).status_code == 404
    assert ask(client, company, environmentId=other.environment_id).status_code == 404


def test_nobody_sees_anything_without_a_session(client: FlaskClient, company: Company) -> None:
    path = f"/api/products/{company.product_id}/evidence/http-requests/summary"
    assert client.get(path, query_string={"environmentId": company.environment_id}).status_code == 401


def test_the_endpoint_is_described(client: FlaskClient) -> None:
    described = client.get("/openapi.json").json
    validate(described)
    operation = described["paths"]["/api/products/{product_id}/evidence/http-requests/summary"]["get"]
    query = {one["name"]: one for one in operation["parameters"] if one["in"] == "query"}
    assert query["environmentId"]["required"] is True
    days = query["days"]["schema"]
    assert (days["type"], days["minimum"], days["maximum"]) == ("integer", 1, 365)
    assert {"200", "401", "404", "422"} <= set(operation["responses"])
