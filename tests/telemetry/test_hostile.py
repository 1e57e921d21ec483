"""Hostile bodies, on every ingest endpoint."""

import json

import pytest
from flask.testing import FlaskClient

from tests.factories import Company, bearer

HOSTILE_BODIES = [
    b"",
    b"null",
    b"[]",
    b'"text"',
    b"{",
    b"\x00",
    b"\xff\xfe{}",
    b"\xef\xbb\xbf{}",
    b"[" * 10_000,
    b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    b'{"events": NaN}',
    b'{"events": 1e999}',
    b'{"events": [' + b"9" * 5_000 + b"]}",
    b'{"events": [{"durationMs": 1e999}]}',
    b'{"events": [{"statusCode": ' + b"9" * 400 + b"}]}",
    b'{"events": [{"operation": "\\ud800"}]}',
    b'{"events": [{"operation": "\\u0000"}]}',
    b'{"events": [], "events": []}',
    b'{"events": ["' + b"x" * 1_000_000 + b'"]}',
    b'{"' + b"k" * 1_000_000 + b'": 1}',
    json.dumps({"events": [{"a": {"b": [[[[1]]]]}}]}).encode(),
]


@pytest.mark.parametrize("body", HOSTILE_BODIES, ids=lambda body: repr(body[:24]))
def test_hostile_bodies_are_refused_and_never_break_anything(
    client: FlaskClient, company: Company, body: bytes
) -> None:
    for path, token in (
        ("/api/v2/telemetry/batches", company.product_key),
        ("/api/v2/outcomes", company.capability()),
        ("/api/v1/evidence/http-requests/batches", company.company_key),
    ):
        response = client.post(path, data=body, headers=bearer(token))
        assert response.status_code in (400, 413, 422)
        assert response.json["error"]
        assert len(response.data) < 10_000
