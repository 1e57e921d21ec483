"""schemathesis asks the live service everything that its description allows, and much that it does not."""

import subprocess
import uuid
from dataclasses import replace

import requests

from tests.conftest import ROOT
from tests.context_api import handle
from tests.factories import bearer
from tests.journeys.stack import BIN, Stack

EXAMPLES = 30
EXAMPLES_WITH_A_PASSWORD = 10
"""Each costs a slow hash, and soon all are throttled."""
SEED = 20261121

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "ignored_auth",
)

# Once a review is stored any body is answered with it, so only where none is can a bad body be told from a good one.
REFUSES_BAD_BODIES = (*CHECKS, "negative_data_rejection")


def ask(stack: Stack, names: str, checks: tuple[str, ...], credential: str | None, *options: str) -> None:
    """Ask the operations whose name, their method and path, matches a pattern.

    Filters of schemathesis that are given apart, of paths and of methods, would each choose operations.
    """
    command = [BIN / "schemathesis", "run", f"{stack.url}/openapi.json", "--url", stack.url]
    command += ["--checks", ",".join(checks), "--include-name-regex", names, "--no-color"]
    command += ["--max-examples", str(EXAMPLES), "--seed", str(SEED), "--generation-database", "none"]
    command += ["--phases", "examples,coverage,fuzzing"]
    command += options
    if credential:
        command += ["--header", f"Authorization: Bearer {credential}"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stdout[-8000:]


def test_telemetry_does_what_it_says(stack: Stack) -> None:
    ask(stack, "/telemetry/batches", REFUSES_BAD_BODIES, stack.company.product_key)


def test_the_read_api_does_what_it_says(stack: Stack) -> None:
    key = stack.flask("key", "create", "--environment", str(stack.company.environment_id), "--kind", "read")["key"]
    ask(stack, "GET /api/v2/(reviews|reports|interactions|operations)(/{.*})?$", REFUSES_BAD_BODIES, key)


def test_outcomes_do_what_they_say(stack: Stack) -> None:
    ask(stack, "/outcomes", CHECKS, stack.company.capability())


def test_outcomes_refuse_bad_bodies_where_no_review_is_stored(stack: Stack) -> None:
    product_id = str(stack.company.product_id)
    created = stack.flask("environment", "create", "--product", product_id, "--name", "closed", "--mode", "off")
    key = stack.flask("key", "create", "--environment", created["environmentId"], "--kind", "product")["key"]
    closed = replace(stack.company, environment_id=created["environmentId"], product_key=key)
    ask(stack, "/outcomes", REFUSES_BAD_BODIES, closed.capability())


def test_reports_do_what_they_say(stack: Stack) -> None:
    ask(stack, "POST /api/v2/reports(/preview)?$", CHECKS, stack.company.capability())


def test_consent_does_what_it_says(stack: Stack) -> None:
    ask(stack, "/(introspect|decisions)$", REFUSES_BAD_BODIES, stack.company.capability())
    ask(stack, "/consent/state", REFUSES_BAD_BODIES, stack.company.product_key)


def test_customer_context_does_what_it_says(stack: Stack) -> None:
    company_endpoints = "/(fields|fields/{key}|enrichment/requests|customer-context|personalization/.*)$"
    ask(stack, company_endpoints, REFUSES_BAD_BODIES, stack.company.company_key)


def test_answers_do_what_they_say(stack: Stack) -> None:
    body = {"interactionId": str(uuid.uuid4()), "operation": "/search", "surface": "html", "remember": True}
    enrichment_request = requests.post(
        f"{stack.url}/api/v2/enrichment/requests",
        json={**body, "purpose": "product_personalization", "userRef": "schemathesis"},
        headers=bearer(stack.company.company_key),
        timeout=10,
    ).json()
    ask(stack, "/enrichment/(requests/inspect|answers|consent/decisions)$", CHECKS, handle(enrichment_request))


def test_evidence_does_what_it_says(stack: Stack) -> None:
    ask(stack, "/evidence/http-requests/batches", REFUSES_BAD_BODIES, stack.company.company_key)


def test_the_summary_of_evidence_does_what_it_says(stack: Stack) -> None:
    credentials = {"email": stack.company.email, "password": stack.company.password}
    ((name, value),) = requests.post(f"{stack.url}/api/session", json=credentials, timeout=30).cookies.items()
    cookie = ("--header", f"Cookie: {name}={value}")
    ask(stack, "/evidence/http-requests/summary$", REFUSES_BAD_BODIES, None, *cookie)


def test_what_is_open_to_all_does_what_it_says(stack: Stack) -> None:
    ask(stack, " /(sdk|healthz|readyz|.well-known|llms.txt)", REFUSES_BAD_BODIES, None)


def test_signing_in_and_out_does_what_it_says(stack: Stack) -> None:
    credentials = {"email": stack.company.email, "password": stack.company.password}
    jars = [requests.post(f"{stack.url}/api/session", json=credentials, timeout=30).cookies for _ in range(2)]
    # From an address of its own: it guesses until it is throttled.
    from_elsewhere = ("--header", "X-Forwarded-For: 203.0.113.254")
    options = ("--max-examples", str(EXAMPLES_WITH_A_PASSWORD))
    ask(stack, "POST /api/session$", REFUSES_BAD_BODIES, None, *from_elsewhere, *options)
    for method, cookies in zip(("GET", "DELETE"), jars, strict=True):
        ((name, value),) = cookies.items()
        cookie = ("--header", f"Cookie: {name}={value}")
        ask(stack, f"{method} /api/session$", CHECKS, None, *cookie, *from_elsewhere)
