"""Errors of invalid requests for context."""

from typing import Any

import pytest
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.enrichment.models import EnrichmentRequest
from tests.context_api import ContextApi


@pytest.mark.parametrize(
    ("details", "status", "pointer", "code"),
    [
        ({"interactionId": "x"}, 422, "/interactionId", "format"),
        ({"interactionId": None}, 422, "/interactionId", "required"),
        ({"operation": "/search?q=1"}, 422, "/operation", "pattern"),
        ({"operation": None}, 422, "/operation", "required"),
        ({"surface": "http_html"}, 422, "/surface", "enum"),
        ({"surface": None}, 422, "/surface", "required"),
        ({"purpose": "other"}, 422, "/purpose", "enum"),
        ({"purpose": None}, 422, "/purpose", "required"),
        ({"remember": "yes"}, 422, "/remember", "type"),
        ({"remember": None}, 422, "/remember", "required"),
        ({"userRef": "some body@x"}, 422, "/userRef", "pattern"),
        ({"accountRef": "a" * 161}, 422, "/accountRef", "length"),
        ({"anonymousRef": ["a"]}, 400, "/anonymousRef", "nested_content"),
        ({"sessionRef": ""}, 422, "/sessionRef", "length"),
        ({"statusCode": 99}, 422, "/statusCode", "range"),
        ({"durationMs": -1}, 422, "/durationMs", "range"),
        ({"runtimeHint": "x" * 201}, 422, "/runtimeHint", "length"),
        ({"runtimeHint": "Agent password=hunter2horse"}, 400, "/runtimeHint", "secret_detected"),
        ({"runtimeHint": "   "}, 422, "/runtimeHint", "format"),
        ({"runtimeHint": "\u200b\u200b"}, 422, "/runtimeHint", "format"),
        ({"fieldKeys": []}, 422, "/fieldKeys", "length"),
        ({"fieldKeys": [f"a.k{n}" for n in range(9)]}, 422, "/fieldKeys", "length"),
        ({"fieldKeys": ["content.format", "content.format"]}, 422, "/fieldKeys", "distinct"),
        ({"fieldKeys": ["content.unknown"]}, 422, "/fieldKeys/0", "unknown_field_key"),
        ({"requestObservation": {"clientIp": "300.1.1.1"}}, 422, "/requestObservation/clientIp", "format"),
        ({"requestObservation": {"clientIp": "::zz"}}, 422, "/requestObservation/clientIp", "format"),
        ({"requestObservation": {"method": "GET /"}}, 422, "/requestObservation/method", "pattern"),
        ({"requestObservation": {"userAgent": "x" * 513}}, 422, "/requestObservation/userAgent", "length"),
        ({"requestObservation": {"acceptLanguage": "x" * 257}}, 422, "/requestObservation/acceptLanguage", "length"),
        (
            {"requestObservation": {"referrerOrigin": "https://a.test/p"}},
            422,
            "/requestObservation/referrerOrigin",
            "pattern",
        ),
        ({"requestObservation": {"secChUaMobile": "1"}}, 422, "/requestObservation/secChUaMobile", "enum"),
        ({"requestObservation": {"secChUaPlatform": "x" * 81}}, 422, "/requestObservation/secChUaPlatform", "length"),
        ({"requestObservation": {"cookie": "a"}}, 400, "/requestObservation/cookie", "unknown_field"),
        ({"requestObservation": {"authorization": "a"}}, 400, "/requestObservation/authorization", "forbidden_content"),
        ({"requestObservation": "GET"}, 422, "/requestObservation", "type"),
        ({"surface": "mcp", "requestObservation": {"method": "GET"}}, 422, "/requestObservation", "not_for_mcp"),
        ({"toolInput": "x"}, 400, "/toolInput", "forbidden_content"),
        ({"question": "x"}, 400, "/question", "unknown_field"),
    ],
)
def test_an_invalid_request_is_refused(
    context_api: ContextApi, details: dict[str, Any], status: int, pointer: str, code: str
) -> None:
    error_response = context_api.ask(**details)
    assert error_response.status_code == status, error_response.data
    assert (pointer, code) in [(problem["pointer"], problem["code"]) for problem in error_response.json["errors"]]
    with transaction():
        assert session().execute(select(func.count()).select_from(EnrichmentRequest)).scalar_one() == 0
