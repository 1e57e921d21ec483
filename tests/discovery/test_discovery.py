"""The discovery documents and the downloads."""

import hashlib
import io
import json
import tarfile
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

DISCOVERY_PATH = "/.well-known/agent-feedback-v1.json"
BASE_URL = "http://127.0.0.1:8000"


def test_the_document_has_exactly_the_fields_of_the_specification(client: FlaskClient) -> None:
    response = client.get(DISCOVERY_PATH)
    assert set(response.json) == {
        "name",
        "version",
        "purpose",
        "telemetry",
        "outcomeSubmission",
        "feedbackSubmission",
        "classification",
        "integrations",
        "reliability",
        "identity",
        "privacy",
    }
    assert response.json["version"] == 1
    assert response.json["telemetry"]["url"] == BASE_URL + "/api/v2/telemetry/batches"
    assert set(response.json["telemetry"]) == {"url", "authentication", "delivery"}
    assert response.json["outcomeSubmission"]["url"] == BASE_URL + "/api/v2/outcomes"
    assert response.json["outcomeSubmission"]["requiredFields"]["outcome"] == ["success", "partial", "failure"]
    assert set(response.json["integrations"]) == {"node", "python", "go", "rust", "protocol"}
    assert "report_product_outcome" in response.json["reliability"]["mcp"]


def test_it_is_cacheable_and_answers_304(client: FlaskClient) -> None:
    first_response = client.get(DISCOVERY_PATH)
    assert first_response.headers["Cache-Control"] == "public, max-age=300"
    second_response = client.get(DISCOVERY_PATH, headers={"If-None-Match": first_response.headers["ETag"]})
    assert (second_response.status_code, second_response.data) == (304, b"")


def test_the_old_address_points_to_the_new_one(client: FlaskClient) -> None:
    body = client.get("/.well-known/agent-feedback.json").json
    assert set(body) == {"name", "version", "deprecated", "writesEnabled", "replacement"}
    assert (body["deprecated"], body["writesEnabled"], body["replacement"]) == (True, False, BASE_URL + DISCOVERY_PATH)


def test_anyone_may_read_it_from_a_browser(client: FlaskClient) -> None:
    assert client.get(DISCOVERY_PATH).headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("language", ["python", "node", "protocol"])
def test_a_published_download_answers_with_what_the_manifest_says(client: FlaskClient, language: str) -> None:
    url = client.get(DISCOVERY_PATH).json["integrations"][language]
    response = client.get(url.removeprefix(BASE_URL))
    assert response.status_code == 200
    name = url.rsplit("/", 1)[1]
    assert client.get("/sdk/manifest.json").json["files"][name] == hashlib.sha256(response.data).hexdigest()


@pytest.mark.parametrize("language", ["go", "rust"])
def test_a_language_that_is_not_published_yet_says_so(client: FlaskClient, language: str) -> None:
    url = client.get(DISCOVERY_PATH).json["integrations"][language]
    response = client.get(url.removeprefix(BASE_URL))
    assert (response.status_code, response.json["code"]) == (404, "sdk_not_published")


def test_the_protocol_archive_holds_the_conformance_vectors(client: FlaskClient) -> None:
    url = client.get(DISCOVERY_PATH).json["integrations"]["protocol"]
    with tarfile.open(fileobj=io.BytesIO(client.get(url.removeprefix(BASE_URL)).data)) as archive:
        vectors = archive.extractfile("agent-feedback-protocol/vectors/capability.json")
        assert vectors
        assert json.load(vectors)["cases"]
        assert {"agent-feedback-protocol/LICENSE", "agent-feedback-protocol/README.md"} <= set(archive.getnames())


def test_the_python_wheel_holds_the_protocol_files(client: FlaskClient) -> None:
    url = client.get(DISCOVERY_PATH).json["integrations"]["python"]
    with zipfile.ZipFile(io.BytesIO(client.get(url.removeprefix(BASE_URL)).data)) as wheel:
        assert "agent_feedback/protocol/instructions.json" in wheel.namelist()


def test_another_name_is_not_found(client: FlaskClient) -> None:
    assert client.get("/sdk/anything.zip").json["code"] == "not_found"


SECURITY_TXT_PATH = "/.well-known/security.txt"


def set_contact(app: Flask, monkeypatch: pytest.MonkeyPatch, **details: str) -> None:
    settings = replace(app.extensions["settings"], **details)
    monkeypatch.setitem(app.extensions, "settings", settings)


def test_without_a_contact_there_is_no_security_txt(client: FlaskClient) -> None:
    answer = client.get(SECURITY_TXT_PATH)
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")


def test_security_txt_has_what_rfc_9116_demands(
    app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = "https://example.com/security"
    set_contact(app, monkeypatch, security_contact="mailto:security@example.com", security_policy=policy)
    answer = client.get(SECURITY_TXT_PATH)
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in answer.text.splitlines())
    expires_at = datetime.fromisoformat(fields.pop("Expires"))
    assert fields == {
        "Contact": "mailto:security@example.com",
        "Preferred-Languages": "en",
        "Canonical": BASE_URL + SECURITY_TXT_PATH,
        "Policy": policy,
    }
    assert timedelta(days=30) < expires_at - datetime.now(UTC) < timedelta(days=365)
    assert client.get(SECURITY_TXT_PATH, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_security_txt_never_expires(app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    set_contact(app, monkeypatch, security_contact="https://example.com/report")
    monkeypatch.setattr("app.core.clock.now", lambda: datetime(2036, 2, 29, 23, 59, tzinfo=UTC))
    assert "Expires: 2036-08-27T00:00:00Z\n" in client.get(SECURITY_TXT_PATH).text
    assert "Policy" not in client.get(SECURITY_TXT_PATH).text


def test_the_node_tarball_holds_what_npm_expects_and_no_tests(client: FlaskClient) -> None:
    url = client.get(DISCOVERY_PATH).json["integrations"]["node"]
    with tarfile.open(fileobj=io.BytesIO(client.get(url.removeprefix(BASE_URL)).data)) as archive:
        names = set(archive.getnames())
        manifest = archive.extractfile("package/package.json")
        assert manifest
        assert url.endswith(f"/agent-feedback-{json.load(manifest)['version']}.tgz")
    assert {"package/src/index.js", "package/types/index.d.ts", "package/protocol/contract.json"} <= names
    assert not [name for name in names if "node_modules" in name or "/test/" in name or "/vectors/" in name]
