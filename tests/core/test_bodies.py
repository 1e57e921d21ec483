"""The errors of malformed, duplicate, compressed and oversized bodies."""

import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.consent.models import ConsentDecision
from app.core.database import session, transaction
from app.core.http.body import AGENT_BODY_BYTES
from app.products.rules import Mode
from tests.factories import NOTE, SOURCE, Company, bearer, create_company, event, observation

OUTCOMES = "/api/v2/outcomes"
DECISIONS = "/api/v2/consent/decisions"


def post(client: FlaskClient, path: str, token: str, body: bytes, **headers: str) -> TestResponse:
    return client.post(path, data=body, headers={**bearer(token), **headers}, content_type="application/json")


def assert_error(response: TestResponse, status: int, code: str, sentence: str = "") -> None:
    assert (response.status_code, response.json["code"]) == (status, code)
    assert sentence in response.json["error"]
    if status in (400, 422):
        assert response.json["errors"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "is empty"),
        (b" \r\n\t", "is empty"),
        (b"[]", "must be a JSON object"),
        (b'[{"outcome": "success"}]', "must be a JSON object"),
        (b'"success"', "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b"1", "must be a JSON object"),
        (b'{"outcome": success}', "is not JSON; see byte 12"),
        ('{"é": x}'.encode(), "is not JSON; see byte 7"),
        (b'{"outcome": "success"', "is not JSON; see byte 21"),
        (b'{"outcome": NaN}', "is not JSON; see byte 12"),
        (b'{"outcome": Infinity}', "is not JSON; see byte 12"),
        (b'{"outcome": "success"} {}', "is not JSON; see byte 23"),
        (b'{"outcome": "\xff"}', "is not UTF-8; see byte 13"),
        ('{"outcome": "success"}'.encode("utf-16"), "is not UTF-8; see byte 0"),
    ],
)
def test_malformed_json_is_answered_with_its_cause(
    client: FlaskClient, company: Company, body: bytes, sentence: str
) -> None:
    assert_error(post(client, OUTCOMES, company.capability(), body), 400, "malformed_json", sentence)


@pytest.mark.parametrize(
    "body", [b"[" * 10_000, b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000]
)
def test_deep_nesting_is_malformed(client: FlaskClient, company: Company, body: bytes) -> None:
    assert_error(post(client, OUTCOMES, company.capability(), body), 400, "malformed_json")


def test_deep_nesting_inside_of_a_known_member_is_an_error_of_the_client(client: FlaskClient, company: Company) -> None:
    body = b'{"outcome": ' + b"[" * 1000 + b"]" * 1000 + b', "note": "' + NOTE.encode() + b'"}'
    assert post(client, OUTCOMES, company.capability(), body).status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        b'{"decision":"declined","decision":"approved"}',
        b'{"decision":"approved","decision":"approved"}',
        b'{"decision":"declined","\\u0064ecision":"approved"}',
    ],
)
def test_a_decision_with_a_repeated_key_is_not_recorded(client: FlaskClient, body: bytes) -> None:
    with transaction():
        consent_company = create_company(Mode.ASK_ONCE)
    assert_error(post(client, DECISIONS, consent_company.capability(), body), 400, "duplicate_key", "repeats a key")
    with transaction():
        assert session().scalar(select(func.count()).select_from(ConsentDecision)) == 0


@pytest.mark.parametrize(
    ("path", "token_kind", "body"),
    [
        (OUTCOMES, "capability", {"outcome": "success", "note": NOTE}),
        ("/api/v2/reports", "capability", {"summary": "It worked as documented."}),
        ("/api/v2/consent/state", "product", {"subject": "afsub1_" + "S" * 43}),
        ("/api/v2/customer-context", "company", {"purpose": "product_personalization", "userRef": "u1"}),
    ],
)
def test_a_repeated_key_is_an_error_on_every_small_body(
    client: FlaskClient, company: Company, path: str, token_kind: str, body: dict[str, Any]
) -> None:
    token = {"capability": company.capability(), "product": company.product_key, "company": company.company_key}[
        token_kind
    ]
    text = json.dumps(body)
    body_text = f"{text[:-1]}, {text[1:]}".encode()
    assert_error(post(client, path, token, body_text), 400, "duplicate_key")
    assert post(client, path, token, text.encode()).status_code == 200


def test_a_repeated_key_in_a_nested_object_is_an_error(client: FlaskClient, company: Company) -> None:
    body = b'{"summary":"It worked as documented.","workaround":{"used":false,"used":true,"detail":"A second call."}}'
    assert_error(post(client, "/api/v2/reports", company.capability(), body), 400, "duplicate_key")


def test_of_a_repeated_key_in_a_batch_the_last_value_counts(client: FlaskClient, company: Company) -> None:
    telemetry = json.dumps({"events": [event()]}).replace('"surface"', '"surface": "html", "surface"').encode()
    assert post(client, "/api/v2/telemetry/batches", company.product_key, telemetry).status_code == 202
    evidence = {"schemaVersion": 1, "source": SOURCE, "events": [observation()]}
    body_text = json.dumps(evidence).replace('"method"', '"method": "HEAD", "method"').encode()
    path = "/api/v1/evidence/http-requests/batches"
    assert post(client, path, company.company_key, body_text).status_code == 200


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "zstd"])
def test_a_compressed_body_is_unsupported(client: FlaskClient, company: Company, coding: str) -> None:
    response = post(client, OUTCOMES, company.capability(), b"{}", **{"Content-Encoding": coding})
    assert_error(response, 415, "unsupported_media_type", "compressed")


def test_a_body_beyond_the_limit_is_too_large(client: FlaskClient, company: Company) -> None:
    body = json.dumps({"outcome": "success", "note": NOTE}).encode()
    assert_error(
        post(client, OUTCOMES, company.capability(), body.ljust(AGENT_BODY_BYTES + 1)),
        413,
        "request_entity_too_large",
        "65536 bytes",
    )
    assert post(client, OUTCOMES, company.capability(), body.ljust(AGENT_BODY_BYTES)).status_code == 200


def test_an_unread_body_is_answered_with_connection_close(client: FlaskClient, company: Company) -> None:
    assert post(client, OUTCOMES, "afr2_wrong", b"{}").headers["Connection"] == "close"
    assert "Connection" not in post(client, OUTCOMES, company.capability(), b"{}").headers


def test_a_preflight_lists_the_methods_of_its_address(client: FlaskClient) -> None:
    assert client.options(OUTCOMES).headers["Access-Control-Allow-Methods"] == "OPTIONS, POST"
    discovery = client.options("/.well-known/agent-feedback-v1.json").headers
    assert discovery["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
