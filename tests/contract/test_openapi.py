"""The API description is valid and complete, and the service does what it says."""

import re

from flask.testing import FlaskClient
from openapi_spec_validator import validate

DOCUMENTED = {
    "/api/v2/outcomes": {"post"},
    "/api/v2/reports": {"post"},
    "/api/v2/capabilities/introspect": {"post"},
    "/api/v2/consent/decisions": {"post"},
    "/api/v2/consent/state": {"post"},
    "/api/v2/telemetry/batches": {"post"},
    "/api/v2/enrichment/fields": {"get"},
    "/api/v2/enrichment/fields/{key}": {"put", "delete"},
    "/api/v2/enrichment/requests": {"post"},
    "/api/v2/enrichment/requests/inspect": {"post"},
    "/api/v2/enrichment/answers": {"post"},
    "/api/v2/enrichment/consent/decisions": {"post"},
    "/api/v2/customer-context": {"post"},
    "/api/v2/personalization/decisions": {"post"},
    "/api/v2/personalization/outcomes": {"post"},
    "/.well-known/agent-feedback-v1.json": {"get"},
    "/.well-known/agent-feedback.json": {"get"},
    "/sdk/manifest.json": {"get"},
    "/sdk/{name}": {"get"},
    "/healthz": {"get"},
    "/readyz": {"get"},
}


def test_the_description_is_valid_openapi(client: FlaskClient) -> None:
    validate(client.get("/openapi.json").json)


def test_every_endpoint_is_described(client: FlaskClient) -> None:
    paths = client.get("/openapi.json").json["paths"]
    assert {path: {m for m in methods if m in ("get", "post", "put", "delete")} for path, methods in paths.items()} == (
        DOCUMENTED
    )


def test_bounds_and_patterns_are_described(client: FlaskClient) -> None:
    schemas = client.get("/openapi.json").json["components"]["schemas"]
    note = schemas["Outcome"]["properties"]["note"]
    assert (note["type"], note["minLength"], note["maxLength"]) == ("string", 8, 500)
    events = schemas["TelemetryBatch"]["properties"]["events"]
    assert (events["minItems"], events["maxItems"]) == (1, 100)
    event = schemas["TelemetryEvent"]
    assert event["additionalProperties"] is False
    assert set(event["required"]) == {"interactionId", "surface", "operation", "classification", "occurredAt"}
    assert event["properties"]["statusCode"] == {"type": "integer", "minimum": 100, "maximum": 599}


def test_the_page_of_the_description_needs_no_internet(client: FlaskClient) -> None:
    page = client.get("/docs/")
    assert page.status_code == 200
    assert re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page.text) == []
    with client.get("/docs/swagger-ui-bundle.js") as script:
        assert script.status_code == 200
