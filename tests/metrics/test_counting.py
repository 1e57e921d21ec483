"""What the web processes count."""

import re
import subprocess
import sys
import uuid

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.database import session, transaction
from app.core.metrics.families import FAMILIES, POOL_TIMEOUTS, Kind
from app.screening.scanner import RULE_IDS
from config.web_rejections import REQUEST_TIMEOUT, reject
from tests.conftest import ROOT
from tests.factories import Company, event, send_events, send_review, sign_in
from tests.metrics.scrape import TOKEN, names, read_samples, scrape, value

UNITS = ("_total", "_seconds", "_info", "_up", "_rows", "_batches", "_connections", "_endpoints")


def test_names_begin_and_end_as_prometheus_has_it() -> None:
    for family in FAMILIES.values():
        assert re.fullmatch(r"agent_feedback_[a-z_]+", family.name), family.name
        assert family.name.endswith(UNITS), family.name
        assert family.name.endswith("_total") is (family.kind is Kind.COUNTER), family.name
        assert family.description.endswith("."), family.name
        # Prometheus adds these, and would rename ours.
        assert not {"job", "instance"} & set(family.labels), family.name


def test_a_request_is_counted_by_the_rule_of_its_url(open_client: FlaskClient, company: Company) -> None:
    send_events(open_client, company, event())
    open_client.get(f"/nobody-s-path/{uuid.uuid4()}")
    open_client.open("/healthz", method="INVENTED")
    samples = scrape(open_client)
    route = "/api/v2/telemetry/batches"
    assert value(samples, "agent_feedback_requests_total", route=route, method="POST", status="202") == 1
    assert value(samples, "agent_feedback_requests_total", route="none", method="GET", status="404") == 1
    assert value(samples, "agent_feedback_requests_total", route="none", method="other", status="405") == 1
    assert value(samples, "agent_feedback_request_duration_seconds_count", route=route, method="POST") == 1
    assert not any("nobody-s-path" in str(labels) for _, labels in samples)


def test_an_error_is_counted_by_its_code(open_client: FlaskClient) -> None:
    open_client.post("/api/v2/outcomes", json={})
    open_client.post("/api/v2/outcomes", json={})
    assert value(scrape(open_client), "agent_feedback_refusals_total", code="unauthorized", status="401") == 2


def test_what_never_reached_the_app_is_counted(open_client: FlaskClient) -> None:
    reject(REQUEST_TIMEOUT)
    samples = scrape(open_client)
    assert value(samples, "agent_feedback_requests_total", route="none", method="none", status="408") == 1
    assert value(samples, "agent_feedback_refusals_total", code="request_timeout", status="408") == 1


def test_a_refused_text_is_counted_by_its_rule(open_client: FlaskClient, company: Company) -> None:
    note = "The answer went to somebody@mail-host.com instead."
    assert send_review(open_client, company.capability(), note=note).status_code == 400
    assert value(scrape(open_client), "agent_feedback_screening_refusals_total", rule="email") == 1


def test_a_failed_sign_in_is_counted_by_its_reason(open_client: FlaskClient, company: Company) -> None:
    sign_in(open_client, company, json={"password": "wrong wrong wrong"})
    assert value(scrape(open_client), "agent_feedback_sign_in_failures_total", reason="wrong_password") == 1


def test_connections_of_the_pool_are_counted_while_they_are_in_use(open_app: Flask, open_client: FlaskClient) -> None:
    with transaction():
        session().connection()
        during = scrape(open_client)
    after = scrape(open_client)
    # The scrape itself reads the database by one of the pool, and has returned it when it tells.
    assert value(during, "agent_feedback_pool_used_connections") == 1
    assert value(after, "agent_feedback_pool_used_connections") == 0
    waits = value(after, "agent_feedback_pool_wait_seconds_count")
    assert waits is not None
    assert waits >= 3


def test_metrics_without_labels_are_there_before_anything_happens(open_client: FlaskClient) -> None:
    assert value(scrape(open_client), POOL_TIMEOUTS.name) == 0


def test_every_family_and_every_counter_of_few_values_is_there_before_anything_happens(
    open_client: FlaskClient,
) -> None:
    response = open_client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert {family.name for family in FAMILIES.values()} <= set(re.findall(r"(?m)^# TYPE (\S+) ", response.text))
    samples = read_samples(response.text)
    for name, labels in (
        ("refusals", {"code": "screening_failed", "status": "503"}),
        ("screening_refusals", {"rule": RULE_IDS[0]}),
        ("limits_hit", {"limit": "capability"}),
        ("quotas_hit", {"quota": "reviews"}),
        ("sign_in_failures", {"reason": "wrong_password"}),
    ):
        assert value(samples, f"agent_feedback_{name}_total", **labels) == 0


def test_nothing_is_counted_where_nobody_may_read_it(client: FlaskClient, app: Flask) -> None:
    client.post("/api/v2/outcomes", json={})
    assert "metrics" not in app.extensions


IMPORTS = """
import sys
from app import create_app
from config.settings import settings_or_exit
import workers.celery
create_app(settings_or_exit())
import kombu.transport.redis
print(sorted(name for name in sys.modules if name in ("prometheus_client", "opentelemetry")))
"""


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "[]"),
        ({"AGENT_FEEDBACK_METRICS_PORT": "9464"}, "['prometheus_client']"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, "['opentelemetry']"),
    ],
)
def test_libraries_are_imported_only_where_they_are_used(
    settings_environ: dict[str, str], variables: dict[str, str], expected: str
) -> None:
    command = [sys.executable, "-c", IMPORTS]
    environ = {**settings_environ, **variables}
    process = subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout.strip() == expected


def test_every_counted_name_is_in_a_scrape_once_it_was_counted(open_app: Flask, open_client: FlaskClient) -> None:
    metrics = open_app.extensions["metrics"]
    for family in FAMILIES.values():
        if family.is_counted:
            labels = ["value"] * len(family.labels)
            if family.kind is Kind.HISTOGRAM:
                metrics.observe(family, 1.0, *labels)
            else:
                metrics.count(family, *labels)
    bare_names = {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in names(scrape(open_client))}
    assert {family.name for family in FAMILIES.values() if family.is_counted} <= bare_names
