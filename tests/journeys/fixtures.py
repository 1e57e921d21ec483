"""Journeys run against real processes; most of them share one set."""

from collections.abc import Iterator

import psycopg2
import pytest

from tests.evaluations.collector import Collector, running_collector
from tests.journeys.node import OTHER_PACKAGES, NodeProject, frameworks, install, require_node
from tests.journeys.stack import Stack, running_stack

SWEEP_INTERVAL_S = 2
"""A journey that waits for a sweep need not wait for a minute."""

MAX_LOG_LINES = 200


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    """The collector that the stack sends its reviews to."""
    with running_collector() as collector:
        yield collector


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[Stack]:
    variables = {
        # schemathesis sends hundreds of requests with one capability or handle.
        "AGENT_FEEDBACK_CAPABILITY_LIMIT": "0",
        "AGENT_FEEDBACK_WEBHOOKS_ALLOW_PRIVATE": "true",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": f"{collector.url}/v1/logs",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "2",
    }
    with running_stack(tmp_path_factory.mktemp("a stack"), SWEEP_INTERVAL_S, **variables) as stack:
        yield stack


@pytest.fixture(scope="session")
def node() -> None:
    """Skip the tests that need npm where it is missing."""
    require_node()


@pytest.fixture(scope="session")
def node_project(node: None, stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> NodeProject:
    """Return a project with the SDK from the service, every framework, a compiler and a product from npm."""
    return install(stack, tmp_path_factory.mktemp("node"), *frameworks(), *OTHER_PACKAGES)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show the log of the processes and the waiting rows with a journey that failed."""
    report = yield
    stack = getattr(item, "funcargs", {}).get("stack")
    if isinstance(stack, Stack) and report.failed:
        report.sections.append(("processes", "\n".join(stack.log.read_text().splitlines()[-MAX_LOG_LINES:])))
        report.sections.append(("waiting rows", _waiting_rows(stack)))
    return report


def _waiting_rows(stack: Stack) -> str:
    try:
        return f"{stack.waiting_rows()}, restarted: {dict(stack.supervisor.restarts)}"
    except psycopg2.Error as error:
        return str(error)
