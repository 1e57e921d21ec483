"""POST /api/v2/reports."""

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core import protocol
from app.core.database import session, transaction
from app.interactions import service as interactions
from app.interactions.service import find_interaction
from app.reports import rules
from app.reports.models import Report
from app.reports.schemas import FindingSchema, ReportSchema, WorkaroundSchema
from tests.factories import Company, bearer, send_review

KEY = "af_live_" + "0123456789abcdef" * 2 + "_" + "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5"

FULL_REPORT = {
    "summary": "The order list left out everything that was shipped before March.",
    "impact": "helped_with_friction",
    "confidence": 0.75,
    "findings": [
        {"kind": "gap", "topic": "order-history", "severity": "major", "detail": "Orders before March are missing."},
        {"kind": "strength", "topic": "speed", "detail": "Every page took under a second."},
    ],
    "workaround": {"used": True, "detail": "The archive endpoint has the older orders."},
}


def report(client: FlaskClient, token: str, body: Any) -> Any:
    return client.post("/api/v2/reports", data=json.dumps(body), headers=bearer(token))


def count() -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(Report)) or 0


def test_a_full_report_is_stored_and_returned(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    response = report(client, company.capability(interaction_id), FULL_REPORT)
    assert response.status_code == 200
    stored_report = response.json["report"]
    assert {**stored_report, "id": 0, "createdAt": 0} == {
        **FULL_REPORT,
        "id": 0,
        "interactionId": interaction_id,
        "source": "capability",
        "createdAt": 0,
    }


def test_a_summary_alone_is_enough(client: FlaskClient, company: Company) -> None:
    stored_report = report(client, company.capability(), {"summary": "  It  worked   well. "}).json["report"]
    assert stored_report["summary"] == "It worked well."
    assert [stored_report[name] for name in ("impact", "confidence", "findings", "workaround")] == [
        None,
        None,
        [],
        None,
    ]


def finding(**changed: Any) -> dict[str, Any]:
    return {"findings": [{"kind": "gap", "topic": "a", "detail": "It is not there.", **changed}]}


INVALID_REPORTS = [
    ({"summary": "short"}, "/summary", "length"),
    ({"summary": "界界界"}, "/summary", "length"),
    ({"summary": "x" * 701}, "/summary", "length"),
    ({"summary": 7}, "/summary", "type"),
    ({"impact": "great"}, "/impact", "enum"),
    ({"confidence": 1.01}, "/confidence", "range"),
    ({"confidence": -0.1}, "/confidence", "range"),
    ({"confidence": "1"}, "/confidence", "type"),
    ({"confidence": True}, "/confidence", "type"),
    ({"findings": [{"kind": "gap", "topic": "a", "detail": "xyz"}] * 9}, "/findings", "length"),
    ({"findings": {}}, "/findings", "type"),
    (finding(kind="bug"), "/findings/0/kind", "enum"),
    (finding(topic="Upper"), "/findings/0/topic", "pattern"),
    (finding(topic="x" * 65), "/findings/0/topic", "length"),
    (finding(severity="fatal"), "/findings/0/severity", "enum"),
    (finding(detail="xy"), "/findings/0/detail", "length"),
    (finding(detail="x" * 351), "/findings/0/detail", "length"),
    (finding(extra=1), "/findings/0/extra", "unknown_field"),
    ({"findings": [{"kind": "gap", "topic": "a"}]}, "/findings/0/detail", "required"),
    ({"workaround": {"used": True}}, "/workaround/detail", "required"),
    ({"workaround": {"used": "yes"}}, "/workaround/used", "type"),
    ({"workaround": {"detail": "Something else."}}, "/workaround/used", "required"),
    ({"workaround": {"used": False, "detail": "xy"}}, "/workaround/detail", "length"),
    ({"workaround": "none"}, "/workaround", "type"),
    ({"prompt": "x"}, "/prompt", "forbidden_content"),
    (finding(transcript="x"), "/findings/0/transcript", "forbidden_content"),
    ({"summary": "The key was " + KEY}, "/summary", "secret_detected"),
    (finding(detail="Ask jane@corp-mail.com about it."), "/findings/0/detail", "personal_data_detected"),
]


@pytest.mark.parametrize(("wrong", "pointer", "code"), INVALID_REPORTS, ids=lambda value: str(value)[:50])
def test_every_broken_bound_is_a_400_with_a_pointer(
    client: FlaskClient, company: Company, wrong: dict[str, Any], pointer: str, code: str
) -> None:
    response = report(client, company.capability(), {"summary": "It worked well.", **wrong})
    assert response.status_code == 400
    assert (pointer, code) in [(problem["pointer"], problem["code"]) for problem in response.json["errors"]]
    assert count() == 0


def test_lengths_are_counted_in_code_points(client: FlaskClient, company: Company) -> None:
    assert report(client, company.capability(), {"summary": "😀" * 700}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"summary": NaN}', b"[" * 10_000, b'{"confidence": 1e999, "summary": "12345678"}'],
)
def test_hostile_bodies_are_400(client: FlaskClient, company: Company, body: bytes) -> None:
    response = client.post("/api/v2/reports", data=body, headers=bearer(company.capability()))
    assert response.status_code == 400


def test_the_first_report_wins_under_concurrency(app: Flask, company: Company) -> None:
    token, start = company.capability(), threading.Barrier(30)

    def submit(number: int) -> bytes:
        start.wait()
        data: bytes = report(app.test_client(), token, {"summary": f"Report number {number}."}).data
        return data

    with ThreadPoolExecutor(30) as pool:
        assert len(set(pool.map(submit, range(30)))) == 1
    assert count() == 1


@pytest.mark.parametrize("body", [{}, {"summary": 1}, {"prompt": 1}, {"summary": "Something else entirely."}])
def test_once_a_report_is_stored_any_body_gets_it(client: FlaskClient, company: Company, body: Any) -> None:
    token = company.capability()
    first = report(client, token, FULL_REPORT)
    assert report(client, token, body).data == first.data


def test_a_report_confirms_its_interaction_and_lives_beside_a_review(client: FlaskClient, company: Company) -> None:
    interaction_id = uuid.uuid4()
    token = company.capability(str(interaction_id))
    report(client, token, FULL_REPORT)
    assert send_review(client, token).status_code == 200
    interactions.promote_queued_interactions()
    with transaction():
        row = find_interaction(company.environment_id, interaction_id)
    assert row
    assert (row["classification"], row["confirmed_by"]) == ("confirmed", "report")


def test_a_secret_cut_in_two_is_found(client: FlaskClient, company: Company) -> None:
    body = {"summary": "It printed " + KEY[:14], **finding(detail=KEY[14:])}
    response = report(client, company.capability(), body)
    assert (response.status_code, response.json["code"]) == (400, "secret_detected")


def test_the_published_bounds_are_the_bounds_of_the_schemas() -> None:
    bounds = protocol.read("contract.json")["reportSchema"]
    summary, detail = ReportSchema().fields["summary"], FindingSchema().fields["detail"]
    topic_bounds = (bounds["findingDetailMinLength"], bounds["findingDetailMaxLength"])
    assert (bounds["summaryMinLength"], bounds["summaryMaxLength"]) == (summary.min_length, summary.max_length)
    assert topic_bounds == (detail.min_length, detail.max_length)
    assert bounds["maxFindings"] == ReportSchema().fields["findings"].max_length
    assert tuple(bounds["impacts"]) == rules.IMPACTS
    assert tuple(bounds["findingKinds"]) == rules.KINDS
    assert tuple(bounds["findingSeverities"]) == rules.SEVERITIES
    for schema, required, optional in (
        (ReportSchema(), "required", "optional"),
        (FindingSchema(), "findingRequired", "findingOptional"),
        (WorkaroundSchema(), "workaroundRequired", "workaroundOptional"),
    ):
        assert {name for name, field in schema.fields.items() if field.required} == set(bounds[required])
        assert {name for name, field in schema.fields.items() if not field.required} == set(bounds[optional])
