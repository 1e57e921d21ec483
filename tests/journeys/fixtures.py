"""Journeys run against real processes; most of them share one set."""

from collections.abc import Iterator

import psycopg2
import pytest

from tests.journeys.stack import Stack, running_stack

SWEEP_INTERVAL_S = 2
"""A journey that waits for a sweep need not wait for a minute."""

MAX_LOG_LINES = 200


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    # schemathesis sends hundreds of requests with one capability or handle.
    unlimited = {"AGENT_FEEDBACK_CAPABILITY_LIMIT": "0"}
    with running_stack(tmp_path_factory.mktemp("a stack"), SWEEP_INTERVAL_S, **unlimited) as stack:
        yield stack


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
