"""The metrics and the traces of real processes: two web processes, a worker and beat."""

import http.client
import json
import os
import secrets
import signal
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil
import psycopg2
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.factories import NOTE, SOURCE, event, observation
from tests.journeys.collector import Collector, running_collector
from tests.journeys.stack import Stack, free_port, running_stack, wait_until
from tests.metrics.expressions import alert_expressions, dashboard_expressions, find_errors
from tests.metrics.scrape import Samples, read_samples

TOKEN = secrets.token_urlsafe(32)
BATCHES = "/api/v2/telemetry/batches"
EMAIL = "somebody@mail-host.com"
CUSTOMER = "customer-of-a-company"
CLIENT_ADDRESS = "203.0.113.77"
USER_AGENT = "an-agent-with-a-name/1.0"


@dataclass
class Observed:
    """A stack whose metrics have a port and a token, and whose traces have a collector."""

    stack: Stack
    collector: Collector
    metrics_url: str

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.stack.url).netloc, timeout=20)

    def send(self, path: str, token: str | None, body: object, **headers: str) -> int:
        """Send a request on a connection of its own, and return the status of its answer."""
        with closing(self.connect()) as connection:
            return post(connection, path, token, body, **headers)

    def scrape(self) -> Samples:
        with urllib.request.urlopen(f"{self.metrics_url}/metrics", timeout=20) as response:
            return read_samples(response.read().decode())

    def sum(self, name: str, **labels: str) -> float:
        """Return the sum of the metrics of a name that have these labels."""
        return sum(
            number
            for (found, found_labels), number in self.scrape().items()
            if found == name and labels.items() <= set(found_labels)
        )


def post(connection: http.client.HTTPConnection, path: str, token: str | None, body: object, **headers: str) -> int:
    authorization = {"Authorization": f"Bearer {token}"} if token else {}
    all_headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT, **authorization, **headers}
    connection.request("POST", path, json.dumps(body), {**all_headers, "X-Forwarded-For": CLIENT_ADDRESS})
    response = connection.getresponse()
    response.read()
    return response.status


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    port = free_port()
    with running_collector() as collector:
        variables = {
            "AGENT_FEEDBACK_METRICS_PORT": str(port),
            "AGENT_FEEDBACK_METRICS_TOKEN": TOKEN,
            "AGENT_FEEDBACK_CAPABILITY_LIMIT": "2/minute",
            "AGENT_FEEDBACK_EVIDENCE_QUOTA": "1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        with running_stack(tmp_path_factory.mktemp("observed"), **variables) as stack:
            yield Observed(stack, collector, f"http://127.0.0.1:{port}")


def send_traffic(observed: Observed) -> None:
    """Send one request of every kind that a metric counts."""
    company = observed.stack.company
    capability = company.capability()
    outcome = {"outcome": "success", "note": NOTE}
    statuses = [
        observed.send(BATCHES, company.product_key, {"events": [event()]}),
        observed.send("/api/v2/outcomes", capability, outcome),
        observed.send("/api/v2/outcomes", company.capability(), {**outcome, "note": f"It went to {EMAIL} again."}),
        observed.send("/api/session", None, {"email": company.email, "password": "wrong wrong wrong"}),
        observed.send(
            "/api/v1/evidence/http-requests/batches",
            company.company_key,
            {"schemaVersion": 1, "source": SOURCE, "events": [observation(), observation()]},
        ),
        observed.send(f"/somebody/{EMAIL}?token=secret-query", None, {}),
    ]
    assert statuses == [202, 200, 400, 401, 403, 404]
    # On one connection, since processes share their counts after a moment only; and a new minute may begin.
    with closing(observed.connect()) as connection:
        assert 429 in {post(connection, "/api/v2/outcomes", capability, outcome) for _ in range(10)}


def fail_a_job(observed: Observed) -> None:
    """Take a job its table, until it has failed."""
    company = observed.stack.company
    with closing(psycopg2.connect(observed.stack.database_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        cursor.execute("ALTER TABLE interactions RENAME TO missing_interactions")
        try:
            assert observed.send(BATCHES, company.product_key, {"events": [event()]}) == 202
            wait_until(lambda: observed.stack.value("SELECT sum(failures) FROM job_runs") > 0, 20)
        finally:
            cursor.execute("ALTER TABLE missing_interactions RENAME TO interactions")


def test_every_name_in_dashboard_and_alerts_is_in_a_scrape_after_traffic(observed: Observed) -> None:
    send_traffic(observed)
    fail_a_job(observed)
    wait_until(lambda: observed.sum("agent_feedback_job_last_success_timestamp_seconds") > 0, 30)
    labels_of: dict[str, set[str]] = {}
    for name, labels in observed.scrape():
        labels_of.setdefault(name, set()).update(label for label, _ in labels)
    expressions = [*dashboard_expressions(), *alert_expressions()]
    assert [error for expression in expressions for error in find_errors(expression, labels_of)] == []


def test_one_scrape_has_the_counts_of_all_processes_also_of_those_that_have_ended(observed: Observed) -> None:
    def count() -> float:
        return observed.sum("agent_feedback_requests_total", route="/healthz", status="200")

    def ask(times: int) -> None:
        for _ in range(times):
            with urllib.request.urlopen(f"{observed.stack.url}/healthz", timeout=20):
                pass

    before = count()
    ask(20)
    assert count() == before + 20
    master = psutil.Process(observed.stack.supervisor.processes["web"].pid)
    victim = master.children()[0]
    os.kill(victim.pid, signal.SIGKILL)
    wait_until(lambda: not victim.is_running() and len(master.children()) == 2, 20)
    observed.stack.wait_until_web_answers()
    after_kill = count()
    assert after_kill >= before + 20
    ask(20)
    assert count() == after_kill + 20
    assert observed.sum("agent_feedback_pool_used_connections") == 0


def test_the_token_opens_the_metrics_on_the_port_of_the_service_only_to_its_holder(observed: Observed) -> None:
    def status(token: str) -> int:
        request = urllib.request.Request(f"{observed.stack.url}/metrics", headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    assert (status(TOKEN), status("wrong")) == (200, 401)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{observed.metrics_url}/healthz", timeout=20)
    assert TOKEN not in observed.stack.log.read_text()


def test_a_trace_leads_from_the_request_to_the_job_that_persists_its_batch(observed: Observed) -> None:
    trace_id, parent_id = secrets.token_hex(16), secrets.token_hex(8)
    traceparent = {"traceparent": f"00-{trace_id}-{parent_id}-01"}
    body = {"events": [event()]}
    assert observed.send(BATCHES, observed.stack.company.product_key, body, **traceparent) == 202
    names = [f"POST {BATCHES}", "notify/telemetry.persist_batches", "run/telemetry.persist_batches"]
    # They come from two processes.
    wait_until(lambda: set(names) <= {span.name for span in observed.collector.trace(trace_id)}, 20)
    spans = {span.name: span for span in observed.collector.trace(trace_id)}
    request, message, run = (spans[name] for name in names)
    assert request.parent_span_id.hex() == parent_id
    assert spans["EXECUTE add_batch"].parent_span_id == request.span_id
    assert message.parent_span_id == request.span_id
    assert run.parent_span_id == message.span_id
    statements = {span.name for span in observed.collector.trace(trace_id) if span.parent_span_id == run.span_id}
    # It locks and claims the batches, stores their events, removes the batches, and records its run.
    assert {"SELECT", "WITH", "DELETE", "INSERT", "UPDATE"} <= statements
    assert (request.kind, message.kind, run.kind) == (
        Span.SPAN_KIND_SERVER,
        Span.SPAN_KIND_PRODUCER,
        Span.SPAN_KIND_CONSUMER,
    )


def test_a_job_of_several_requests_is_linked_with_each_of_them(observed: Observed) -> None:
    trace_ids = [secrets.token_hex(16) for _ in range(3)]
    # Requests of one connection are answered by one process, which sends one message for all of them.
    with closing(observed.connect()) as connection:
        for trace_id in trace_ids:
            traceparent = f"00-{trace_id}-{secrets.token_hex(8)}-01"
            body = {"events": [event()]}
            post(connection, BATCHES, observed.stack.company.product_key, body, traceparent=traceparent)

    def reached() -> set[str]:
        runs = observed.collector.named("run/telemetry.persist_batches")
        return {span.trace_id.hex() for span in runs} | {link.trace_id.hex() for span in runs for link in span.links}

    wait_until(lambda: set(trace_ids) <= reached(), 20)


def test_no_span_holds_a_secret_or_something_personal(observed: Observed) -> None:
    send_traffic(observed)
    company, interaction_id = observed.stack.company, str(uuid.uuid4())
    # Twice: it is stored by one statement, and filled in by another.
    for _ in range(2):
        body = {"events": [event(interaction_id, customerRef=CUSTOMER)]}
        assert observed.send(BATCHES, company.product_key, body) == 202
    wait_until(lambda: observed.collector.named("POST"), 20)
    wait_until(lambda: observed.collector.named("EXECUTE record_review"), 20)
    text = "\n".join(map(str, observed.collector.spans))
    secrets_and_words = (company.product_key, company.company_key, "afr2_", NOTE, EMAIL, company.email, "secret-query")
    for word in (*secrets_and_words, CUSTOMER, CLIENT_ADDRESS, USER_AGENT, "/somebody/", "127.0.0.1"):
        assert word not in text, word
    assert str(company.environment_id) not in text
    assert interaction_id not in text
    for resource in observed.collector.resources:
        assert (resource["service.name"], resource["deployment.environment"]) == ("agent-feedback", "test")


def test_a_collector_that_does_not_answer_holds_no_request_up(observed: Observed) -> None:
    observed.collector.has_stopped.set()
    wait_until(lambda: observed.collector.unanswered, 20)
    key = observed.stack.company.product_key
    assert {observed.send(BATCHES, key, {"events": [event()]}) for _ in range(50)} == {202}
    wait_until(lambda: observed.stack.value("SELECT count(*) FROM telemetry_inbox") == 0, 20)
