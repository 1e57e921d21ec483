"""The API description is valid and complete, and the service does what it says."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from openapi_schema_validator import OAS30Validator
from openapi_spec_validator import validate

from tests.factories import SESSION_COOKIE

# Generated clients name their functions so: an id never changes.
OPERATION_IDS = {
    "post /api/v2/outcomes": "submitOutcome",
    "post /api/v2/outcomes/preview": "previewOutcome",
    "post /api/v2/reports": "submitReport",
    "post /api/v2/reports/preview": "previewReport",
    "post /api/v2/capabilities/introspect": "introspectCapability",
    "post /api/v2/consent/decisions": "decideConsent",
    "post /api/v2/consent/state": "getConsentStates",
    "post /api/v2/telemetry/batches": "sendTelemetry",
    "put /api/v2/enrichment/fields/{key}": "putField",
    "delete /api/v2/enrichment/fields/{key}": "deleteField",
    "get /api/v2/enrichment/fields": "listFields",
    "post /api/v2/enrichment/requests": "requestContext",
    "post /api/v2/enrichment/requests/inspect": "inspectRequest",
    "post /api/v2/enrichment/answers": "answerRequest",
    "post /api/v2/enrichment/consent/decisions": "decideContext",
    "post /api/v2/customer-context": "retrieveCustomerContext",
    "post /api/v2/personalization/decisions": "recordDecision",
    "post /api/v2/personalization/outcomes": "recordOutcome",
    "post /api/v1/evidence/http-requests/batches": "sendEvidence",
    "get /api/products/{product_id}/evidence/http-requests/summary": "summarizeEvidence",
    "get /api/v2/reviews": "listReviews",
    "get /api/v2/reports": "listReports",
    "get /api/v2/reports/{report_id}": "getReport",
    "get /api/v2/interactions": "listInteractions",
    "get /api/v2/interactions/{interaction_id}": "getInteraction",
    "get /api/v2/operations": "listOperations",
    "get /.well-known/agent-feedback-v1.json": "getDiscovery",
    "get /.well-known/agent-feedback.json": "getDeprecatedDiscovery",
    "get /.well-known/security.txt": "getSecurityContact",
    "get /llms.txt": "getLlmsText",
    "get /sdk/manifest.json": "getManifest",
    "get /sdk/{name}": "downloadSdk",
    "get /healthz": "getLiveness",
    "get /readyz": "getReadiness",
    "post /api/session": "signIn",
    "get /api/session": "getSession",
    "delete /api/session": "signOut",
}

# No look-around, no flags, and only escapes that Python, JavaScript, Go and Rust share.
PORTABLE = re.compile(r"(?:[^\\(]|\((?!\?)|\(\?:|\\[.\[\]{}()*+?^$|/\\sdw]|\\x[0-9a-f]{2})*")


def test_the_description_is_valid_openapi(client: FlaskClient) -> None:
    validate(client.get("/openapi.json").json)


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
    with client.get("/static/docs.js") as script:
        assert "validatorUrl: null" in script.text
    with client.get("/docs/swagger-ui-bundle.js") as script:
        assert script.status_code == 200


def operations(description: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return every operation by its method and path."""
    return {
        f"{method} {path}": operation
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if method != "parameters"
    }


def nodes(node: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Walk every object of the description, examples left out, with its place."""
    if isinstance(node, dict):
        yield place, node
        for key, inner in node.items():
            if key != "example":
                yield from nodes(inner, f"{place}/{key}")
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            yield from nodes(inner, f"{place}/{index}")


@pytest.fixture
def description(client: FlaskClient) -> dict[str, Any]:
    document: dict[str, Any] = client.get("/openapi.json").json
    return document


def test_every_operation_has_an_id_of_its_own(description: dict[str, Any]) -> None:
    ids = [operation.get("operationId", "") for operation in operations(description).values()]
    assert [name for name in ids if not re.fullmatch("[a-z][A-Za-z]+", name)] == []
    assert len(set(ids)) == len(ids)


def test_every_endpoint_is_described_under_its_stable_id(description: dict[str, Any]) -> None:
    ids = {place: operation["operationId"] for place, operation in operations(description).items()}
    assert ids == OPERATION_IDS


def test_every_operation_is_told_in_a_sentence_and_in_a_paragraph(description: dict[str, Any]) -> None:
    operations_without_text = [
        place
        for place, operation in operations(description).items()
        if not operation.get("summary") or not operation.get("description")
    ]
    assert operations_without_text == []


def test_every_tag_is_described_and_every_operation_has_one(description: dict[str, Any]) -> None:
    tags = {tag["name"]: tag["description"] for tag in description["tags"]}
    assert all(name[0].isupper() and "_" not in name and text for name, text in tags.items())
    assert {tuple(operation["tags"]) for operation in operations(description).values()} == {(name,) for name in tags}


def test_only_the_operations_of_public_mounts_need_no_credential(description: dict[str, Any]) -> None:
    public = {place for place, operation in operations(description).items() if operation["security"] == []}
    assert public == {
        "get /.well-known/agent-feedback-v1.json",
        "get /.well-known/agent-feedback.json",
        "get /.well-known/security.txt",
        "get /llms.txt",
        "get /sdk/manifest.json",
        "get /sdk/{name}",
        "get /healthz",
        "get /readyz",
        "post /api/session",
    }


def test_every_operation_tells_of_its_limit_but_health_which_has_none(description: dict[str, Any]) -> None:
    unlimited = {place for place, operation in operations(description).items() if "429" not in operation["responses"]}
    assert unlimited == {"get /healthz", "get /readyz"}
    limited = description["components"]["responses"]["TOO_MANY_REQUESTS"]
    assert limited["headers"].keys() == {"Retry-After", "RateLimit", "RateLimit-Policy"}
    example = limited["content"]["application/json"]["example"]
    assert (example["code"], example["limit"], example["retryAfterS"]) == ("rate_limited", "capability", 37)


def test_what_a_quota_refuses_is_told(description: dict[str, Any]) -> None:
    ids = ("submitOutcome", "submitReport", "sendTelemetry", "sendEvidence", "requestContext")
    told = {operation["operationId"]: "403" in operation["responses"] for operation in operations(description).values()}
    assert [name for name in ids if not told[name]] == []
    names = description["components"]["schemas"]["Error"]["properties"]["quota"]["enum"]
    assert names == ["events", "reviews", "reports", "questions", "evidence"]


def test_every_error_of_every_operation_has_the_error_schema(description: dict[str, Any]) -> None:
    responses = description["components"]["responses"]
    for place, operation in operations(description).items():
        errors = {status: answer for status, answer in operation["responses"].items() if int(status) >= 400}
        assert any(int(status) < 500 for status in errors), place
        for status, answer in errors.items():
            if "$ref" in answer:
                content = responses[answer["$ref"].rpartition("/")[2]]["content"]["application/json"]
                assert content["schema"] == {"$ref": "#/components/schemas/Error"}, (place, status)
                assert content["example"]["requestId"]


def test_nothing_stands_beside_a_reference(description: dict[str, Any]) -> None:
    assert [place for place, node in nodes(description) if "$ref" in node and len(node) > 1] == []


def test_every_object_names_its_members(description: dict[str, Any]) -> None:
    untyped_objects = [
        place
        for place, node in nodes(description)
        if node.get("type") == "object" and "properties" not in node and node.get("enum") != [None]
    ]
    # The downloads of a release have names of their own.
    assert untyped_objects == ["/components/schemas/Manifest/properties/files"]
    assert [place for place, node in nodes(description) if node.get("additionalProperties") == {}] == []


@pytest.mark.parametrize(
    "path",
    [
        "/api/v2/outcomes",
        "/api/v2/outcomes/preview",
        "/api/v2/telemetry/batches",
        "/api/v2/reports",
        "/api/v2/reports/preview",
        "/api/v2/consent/decisions",
        "/api/v2/consent/state",
        "/api/v2/enrichment/answers",
        "/api/v2/customer-context",
        "/api/v1/evidence/http-requests/batches",
    ],
)
def test_requests_and_answers_have_examples(description: dict[str, Any], path: str) -> None:
    operation = description["paths"][path]["post"]
    status = "202" if path.endswith("telemetry/batches") else "200"
    assert operation["requestBody"]["content"]["application/json"]["example"]
    assert operation["responses"][status]["content"]["application/json"]["example"]


def test_every_example_fits_its_schema(description: dict[str, Any]) -> None:
    examples = [(place, node) for place, node in nodes(description) if "example" in node and "schema" in node]
    assert len(examples) > 20
    for place, node in examples:
        schema = {"allOf": [node["schema"]], "components": description["components"]}
        mistakes = [error.message for error in OAS30Validator(schema).iter_errors(node["example"])]
        assert mistakes == [], place


def test_patterns_are_read_alike_by_every_dialect(description: dict[str, Any]) -> None:
    patterns = {node["pattern"] for _, node in nodes(description) if isinstance(node.get("pattern"), str)}
    assert len(patterns) > 8
    assert [pattern for pattern in patterns if not PORTABLE.fullmatch(pattern)] == []


def test_the_description_opens_with_the_credentials(description: dict[str, Any]) -> None:
    info = description["info"]
    assert all(
        prefix in info["description"] for prefix in ("af_live_", "af_company_", "af_read_", "afr2_", "aqr1_", "cookie")
    )
    assert info["license"]["name"] == "MIT"
    assert description["servers"] == [{"url": "http://127.0.0.1:8000"}]


def test_each_credential_is_described_as_it_is_sent(client: FlaskClient) -> None:
    description = client.get("/openapi.json").json
    schemes = description["components"]["securitySchemes"]
    credentials = {name: (scheme["type"], scheme.get("in"), scheme.get("name")) for name, scheme in schemes.items()}
    assert credentials == {
        "productKey": ("http", None, None),
        "companyKey": ("http", None, None),
        "readKey": ("http", None, None),
        "requestHandle": ("http", None, None),
        "capability": ("http", None, None),
        "dashboardSession": ("apiKey", "cookie", SESSION_COOKIE),
    }
    session = description["paths"]["/api/session"]
    assert session["get"]["security"] == session["delete"]["security"] == [{"dashboardSession": []}]
    assert session["post"]["security"] == []
    assert {"401", "403", "429"} <= set(session["post"]["responses"])
