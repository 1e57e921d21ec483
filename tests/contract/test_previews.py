"""A preview says what the real endpoint would do with a body, and stores nothing."""

import uuid
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.core.database import session, transaction
from app.interactions.models import Interaction, Promotion
from app.outcomes.models import Review
from app.products.rules import Mode
from app.reports.models import Report
from tests.factories import NOTE, Company, bearer, create_company
from tests.reports.test_reports import FULL_REPORT

REVIEW = {"outcome": "partial", "note": "  Two of\tthree   orders\nwere found. "}
SECRET = "It sent Bearer a1B2c3D4e5F6g7H8i9J0k1L2 and failed."

BODIES: list[tuple[str, Any]] = [
    ("outcomes", REVIEW),
    ("outcomes", {}),
    ("outcomes", {**REVIEW, "note": "short"}),
    ("outcomes", {**REVIEW, "note": SECRET}),
    ("outcomes", {**REVIEW, "note": "Somebody at anna.schmidt@mail-host.com answered."}),
    ("outcomes", {**REVIEW, "prompt": "x"}),
    ("outcomes", {**REVIEW, "more": 1}),
    ("outcomes", []),
    ("reports", FULL_REPORT),
    ("reports", {"summary": "It worked as documented."}),
    ("reports", {"summary": "short"}),
    ("reports", {"summary": "It worked.", "findings": [{"kind": "gap", "topic": "a", "detail": SECRET}]}),
    ("reports", {"summary": "It worked.", "workaround": {"used": True}}),
    ("reports", {"summary": "It worked.", "confidence": 2}),
]
WHAT_STORING_BRINGS = {"id", "interactionId", "createdAt"}


def post(client: FlaskClient, path: str, token: str, body: Any) -> TestResponse:
    return client.post(f"/api/v2/{path}", json=body, headers=bearer(token))


def content(response: TestResponse) -> Any:
    """Return an error without its request id, or what was or would be stored without what storing brings."""
    if response.status_code != 200:
        return response.status_code, {name: value for name, value in response.json.items() if name != "requestId"}
    record = response.json.get("review") or response.json["report"]
    return 200, {name: value for name, value in record.items() if name not in WHAT_STORING_BRINGS}


def stored_rows() -> list[int]:
    with transaction():
        models = (Review, Report, Interaction, Promotion)
        return [session().scalar(select(func.count()).select_from(model)) or 0 for model in models]


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_a_preview_answers_as_the_real_endpoint_and_stores_nothing(
    client: FlaskClient, company: Company, path: str, body: Any
) -> None:
    token = company.capability()
    rows = stored_rows()
    preview = post(client, f"{path}/preview", token, body)
    assert stored_rows() == rows
    assert content(preview) == content(post(client, path, token, body))
    assert preview.headers["Cache-Control"] in ("private, no-store", "no-store")


def test_a_preview_tells_whether_the_submission_would_be_stored(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    token = company.capability(interaction_id)
    preview = post(client, "outcomes/preview", token, REVIEW).json
    note = "Two of three orders were found."
    expected = {"outcome": "partial", "note": note, "source": "capability"}
    assert preview == {"interactionId": interaction_id, "wouldBeStored": True, "review": expected}
    post(client, "outcomes", token, REVIEW)
    second = post(client, "outcomes/preview", token, {"outcome": "failure", "note": NOTE}).json
    assert second == {"interactionId": interaction_id, "wouldBeStored": False, "review": expected}


def test_a_preview_of_a_second_report_shows_the_first(client: FlaskClient, company: Company) -> None:
    token = company.capability()
    post(client, "reports", token, FULL_REPORT)
    preview = post(client, "reports/preview", token, {"summary": "Another summary of the same."}).json
    assert (preview["wouldBeStored"], preview["report"]["summary"]) == (False, FULL_REPORT["summary"])


@pytest.mark.parametrize("path", ["outcomes", "reports"])
@pytest.mark.parametrize(
    ("mode", "status", "code"), [(Mode.ASK_ONCE, 403, "consent_missing"), (Mode.OFF, 410, "feedback_off")]
)
def test_a_preview_needs_the_approval_that_sending_needs(
    client: FlaskClient, path: str, mode: Mode, status: int, code: str
) -> None:
    with transaction():
        company = create_company(mode)
    body = REVIEW if path == "outcomes" else FULL_REPORT
    response = post(client, f"{path}/preview", company.capability(), body)
    assert (response.status_code, response.json["code"]) == (status, code)
